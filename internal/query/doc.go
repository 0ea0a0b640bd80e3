// Package query is a small language of boolean queries over posting lists.
//
//	expr    = and { "OR" and }
//	and     = not { "AND" not }
//	not     = "NOT" not | primary
//	primary = term | "(" expr ")" | "atleast" "(" count { "," expr } ")"
//	term    = a bare word | a word in double quotes
//
// NOT binds tighter than AND, AND tighter than OR. The keywords are in capitals;
// atleast is one only before a parenthesis. A bare word ends at a space, a
// parenthesis, a comma or a double quote. Terms know the escapes of package
// textform, quoted ones \" too.
//
// NOT needs something to be taken from: "NOT a" alone, or "a OR NOT b", would be
// nearly every doc there is, and no list holds all docs. Such a query is refused
// by Parse. Inside an AND with a part that is not negated any combination works.
package query

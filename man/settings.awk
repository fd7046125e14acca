# settings.awk: writes manual pages of section 7 from the rows of doc/settings.sh: one for all settings, and one for each.
#   awk -v out=FOLDER -v version=V -f settings.awk
BEGIN { FS = " *@ *" }

function unquote(s) { gsub(/^ *"|" *$/, "", s); return s }

function escape(s) { # hyphens become minus signs, which users can copy; characters that troff interprets are escaped
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    sub(/^[.']/, "\\\\\\&&", s)
    return s
}

function capital(s) { return toupper(substr(s, 1, 1)) substr(s, 2) }

function values(kind, least, most, words,    range) {
    if (kind == "choice") { range = words; gsub(/\|/, ", ", range); return "one of " range }
    if (kind == "text") return "any text"
    range = least " to " most
    if (kind == "size") return range " bytes; k, m and g are powers of 1024"
    if (kind == "count") return range "; k, m and g are powers of 1000"
    return range
}

function begin(file, name, about) {
    printf ".\\\" Generated from src/base/settings.def.\n.TH %s 7 \"\" \"Hearth %s\" \"Hearth\"\n", toupper(name), version > file
    print ".SH NAME\n" escape(name) " \\- " escape(about) > file
}

function one_page(    file, about) {
    file = out "/" name ".7"
    about = help
    sub(/[:;,(] .*/, "", about)
    begin(file, name, about)
    print ".SH SYNOPSIS\n.B " name "=\\fIvalue\\fP" > file
    print ".SH DESCRIPTION" > file
    print escape(capital(help)) "." > file
    print ".TP\n.B Values\n" escape(range) > file
    print ".TP\n.B Default\n" escape(fallback == "" ? "(none)" : fallback) > file
    print ".PP\nAn environment variable, read once when a program starts." > file
    print "A value out of its range is reported, and the default is used." > file
    print ".B hearth info \\-c\nshows its value and where it comes from." > file
    print ".SH SEE ALSO\n.BR hearth\\-settings (7),\n.BR hearth (1)" > file
    close(file)
}

BEGIN {
    all = out "/hearth-settings.7"
    begin(all, "hearth-settings", "the environment variables of Hearth")
    print ".SH DESCRIPTION" > all
    print "Each setting is an environment variable, read once when the program starts." > all
    print "A value out of its range is reported, with the range, and the default is used." > all
    print "A name that is not a setting is reported too." > all
    print "Sizes take\n.BR k \", \" m \" and \" g\nas powers of 1024, other counts as powers of 1000." > all
    print ".B hearth info \\-c\nshows their current values." > all
    print ".SH SETTINGS" > all
}

$8 ~ /experiment/ { next } # doc/experiments.md

{
    kind = $1; name = unquote($2); fallback = unquote($3); help = unquote($7)
    range = values(kind, $4, $5, unquote($6))
    if ($8 ~ /expert/ && !experts++) {
        print ".SH FOR EXPERTS" > all
        print "Most programs need none of these." > all
    }
    print ".TP\n.B " name > all
    print escape(capital(help)) ".\nDefault: " escape(fallback == "" ? "(none)" : fallback) ".\nValues: " escape(range) "." > all
    one_page()
}

END { print ".SH SEE ALSO\n.BR hearth (1)" > all }

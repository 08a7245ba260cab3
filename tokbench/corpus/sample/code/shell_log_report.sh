#!/bin/sh
# Summarise web server access logs: busiest hours, slowest pages, errors.
# Plain POSIX shell and awk, so that it runs on the smallest of machines.
#
# Each line of the log: address - user [day/month/year:hh:mm:ss zone]
# "METHOD path protocol" status bytes milliseconds

set -eu

top=10
since=''
format=text
tmp_dir=$(mktemp -d "${TMPDIR:-/tmp}/log_report.XXXXXX")
trap 'rm -rf "$tmp_dir"' EXIT
trap 'exit 130' INT TERM

say() { printf '%s\n' "$*"; }
fail() { say "log_report: $*" >&2; exit 1; }

heading() {
    case "$format" in
        markdown) printf '\n## %s\n\n' "$1" ;;
        *) printf '\n%s\n%s\n' "$1" "$(printf '%s' "$1" | sed 's/./=/g')" ;;
    esac
}

# Read plain or compressed files, or standard input if there are none.
read_logs() {
    if [ "$#" -eq 0 ]; then
        cat
        return
    fi
    for file in "$@"; do
        [ -r "$file" ] || fail "cannot read $file"
        case "$file" in
            *.gz) gzip -dc "$file" ;;
            *.bz2) bzip2 -dc "$file" ;;
            *) cat "$file" ;;
        esac
    done
}

# Turn each request into: date hour status bytes millis method path
normalise() {
    awk -v since="$since" '
        BEGIN {
            count = split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", names, " ")
            for (i = 1; i <= count; i++) month[names[i]] = sprintf("%02d", i)
        }
        match($0, /\[[^]]+\]/) {
            split(substr($0, RSTART + 1, RLENGTH - 2), when, /[\/: ]/)
            date = when[3] "-" month[when[2]] "-" when[1]
            if (since != "" && date < since) next
            sub(/^[^"]*"/, "")
            gsub(/"/, " ")
            path = $2
            sub(/[?#].*$/, "", path)
            print date, when[4], $4, ($5 == "-" ? 0 : $5), $6 + 0, $1, path
        }
    '
}

busiest_hours() {
    awk '{ hits[$2]++; if (hits[$2] > most) most = hits[$2] }
        END {
            for (hour in hits) {
                bar = ""
                for (i = 0; i < 40 * hits[hour] / most; i++) bar = bar "▒"
                printf "%s:00 %7d %s\n", hour, hits[hour], bar
            }
        }' "$1" | sort
}

slowest_pages() {
    awk '$3 < 400 { sum[$7] += $5; n[$7]++ }
        END { for (p in sum) printf "%9.1f ms  %6d×  %s\n", sum[p] / n[p], n[p], p }' "$1" |
        sort -rn | head -n "$top"
}

error_counts() {
    awk '$3 >= 400 { print $3, $6, $7 }' "$1" | sort | uniq -c | sort -rn | head -n "$top"
}

while [ "$#" -gt 0 ]; do
    case "$1" in
        --top=*) top=${1#*=} ;;
        --since=????-??-??) since=${1#*=} ;;
        --markdown) format=markdown ;;
        --help) say "usage: log_report [--top=N] [--since=YYYY-MM-DD] [--markdown] [FILE...]"; exit 0 ;;
        --) shift; break ;;
        -*) fail "unknown option: $1" ;;
        *) break ;;
    esac
    shift
done

requests="$tmp_dir/requests"
read_logs "$@" | normalise >"$requests"
total=$(wc -l <"$requests" | tr -d ' ')
[ "$total" -gt 0 ] || fail "no requests found"

megabytes=$(awk '{ sum += $4 } END { printf "%.1f", sum / (1024 * 1024) }' "$requests")
say "$total requests, $megabytes MB sent, $(cut -d ' ' -f 1 "$requests" | sort -u | wc -l | tr -d ' ') day(s)"

heading "Busiest hours" && busiest_hours "$requests"
heading "Slowest pages" && slowest_pages "$requests"
heading "Errors" && error_counts "$requests"

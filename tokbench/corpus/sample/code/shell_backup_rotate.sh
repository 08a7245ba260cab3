#!/usr/bin/env bash
#
# Pack directories into dated archives and thin out the old ones: keep the
# last few days, then one archive for each month.

set -euo pipefail
shopt -s nullglob

readonly PROGRAM="${0##*/}"
readonly STAMP_FORMAT='%Y-%m-%d_%H%M%S'

BACKUP_ROOT="${BACKUP_ROOT:-$HOME/backups}"
KEEP_DAILY=7
KEEP_MONTHLY=12
DRY_RUN=false
VERBOSE=0
EXCLUDES=('*.tmp' '.cache' 'node_modules')

usage() {
    cat <<USAGE
Usage: $PROGRAM [options] DIRECTORY...

  -o DIR    where the archives go (default: $BACKUP_ROOT)
  -d COUNT  daily archives to keep (default: $KEEP_DAILY)
  -m COUNT  monthly archives to keep (default: $KEEP_MONTHLY)
  -n        only say what would be done
  -v        say more; may be repeated
USAGE
}

log() {
    local level=$1
    shift
    if (( VERBOSE >= level )); then
        printf '[%(%H:%M:%S)T] %s\n' -1 "$*" >&2
    fi
}

die() {
    printf '%s: %s\n' "$PROGRAM" "$1" >&2
    exit "${2:-1}"
}

run() {
    if [[ $DRY_RUN == true ]]; then
        printf '→ %s\n' "${*@Q}"
    else
        "$@"
    fi
}

make_archive() {
    local source=${1%/} name target pattern
    local -a options=()

    [[ -d $source ]] || die "not a directory: $source" 66
    name=$(basename "$source" | tr -c '[:alnum:]._\n-' '_')
    target="$BACKUP_ROOT/$name.$(date +"$STAMP_FORMAT").tar.gz"

    for pattern in "${EXCLUDES[@]}"; do
        options+=("--exclude=$pattern")
    done
    log 1 "packing $source into ${target##*/}"
    run tar -czf "$target.part" "${options[@]}" -C "$(dirname "$source")" "$(basename "$source")"
    run mv -- "$target.part" "$target"
    prune "$name"
}

# Newest first: the first KEEP_DAILY stay, then the newest one of each month.
prune() {
    local name=$1 archive month index kept_months=0
    local -a archives=("$BACKUP_ROOT/$name".????-??-??_??????.tar.gz)
    local -A seen=()

    for (( index = ${#archives[@]} - 1; index >= 0; index-- )); do
        archive=${archives[index]}
        month=${archive#"$BACKUP_ROOT/$name."}
        month=${month:0:7}

        if (( ${#archives[@]} - index <= KEEP_DAILY )); then
            log 2 "keeping ${archive##*/} (recent)"
        elif [[ -z ${seen[$month]:-} ]] && (( kept_months < KEEP_MONTHLY )); then
            seen[$month]=1
            kept_months=$(( kept_months + 1 ))
            log 2 "keeping ${archive##*/} (month $month)"
        else
            run rm -f -- "$archive"
        fi
    done
}

while getopts ':o:d:m:nvh' option; do
    case $option in
        o) BACKUP_ROOT=${OPTARG%/} ;;
        d) KEEP_DAILY=$OPTARG ;;
        m) KEEP_MONTHLY=$OPTARG ;;
        n) DRY_RUN=true ;;
        v) VERBOSE=$(( VERBOSE + 1 )) ;;
        h) usage; exit 0 ;;
        :) die "-$OPTARG needs a value" 64 ;;
        *) usage >&2; exit 64 ;;
    esac
done
shift $(( OPTIND - 1 ))

(( $# > 0 )) || { usage >&2; exit 64; }
run mkdir -p "$BACKUP_ROOT"
trap 'rm -f -- "$BACKUP_ROOT"/*.part' EXIT

for directory in "$@"; do
    make_archive "$directory"
done
log 1 "✔ done, directories packed: $#"

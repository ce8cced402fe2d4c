#!/usr/bin/env bash
# As somebody with a new machine: installs the Debian packages of BUILD by apt, with what they depend on, into a system that has nothing but apt;
# then searches a BIOM table there, serves the app, and says how long that took. Needs root, debootstrap and Debian's archive.
#   packaging/chroot.sh BUILD [FOLDER]     FOLDER: an empty system that is there already; it is copied
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath "$1")/packages
scratch=$(mktemp -d)
root=$scratch/root
# shellcheck disable=SC2317
clean() {
  if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
  rm -rf "$scratch"
}
trap clean EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

if [[ -n ${2:-} ]]; then
  cp -a "$2" "$root"
else
  # shellcheck source=/dev/null
  debootstrap --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" >"$scratch/log" || { tail -20 "$scratch/log"; fail "there is no empty system"; }
fi
mount -t proc proc "$root/proc"
inside apt-get update -qq
if inside sh -c 'command -v gcc g++ cc python3'; then fail "the system is not empty"; fi
mkdir "$root/packages"
cp "$packages"/*.deb "$root/packages"

began=$SECONDS
inside sh -c 'apt-get install -y -qq /packages/sheaf_*.deb >/log 2>&1 || { cat /log; exit 1; }'
installed=$((SECONDS - began))
inside sh -c 'cd /root && sheaf generate microbes table.biom --rows 100 --features 2000 --seed 7 --quiet &&
  sheaf search table.biom --output found >log 2>&1 && test -s found/report.html || { cat log; exit 1; }'
echo "from apt install to a finished search on a BIOM table: $((SECONDS - began)) s, $installed of them for apt"
if inside sh -c 'command -v gcc g++ cc'; then fail "a compiler was installed"; fi
for file in man/man1/sheaf.1.gz bash-completion/completions/sheaf zsh/site-functions/_sheaf fish/vendor_completions.d/sheaf.fish; do
  [[ -s $root/usr/share/$file || -s $root/usr/share/${file%.gz} ]] || fail "$file is not installed"
done
inside sh -c 'cd /root && sheaf example microbes --quiet && microbes/run.sh >log 2>&1 || { cat log; exit 1; }'

echo "== the app, encrypted too"
inside sh -c 'apt-get install -y -qq openssl >/log 2>&1 && cd /root &&
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=localhost -keyout key.pem -out chain.pem 2>/dev/null'
for options in "" "--certificate chain.pem --key key.pem"; do
  inside sh -c "cd /root && timeout 5 sheaf app \$(mktemp -d) --no-open $options 2>said; true" &
  for _ in $(seq 100); do
    grep -q token= "$root/root/said" 2>/dev/null && break
    sleep 0.1
  done
  grep -q token= "$root/root/said" || fail "sheaf app $options does not start: $(cat "$root/root/said")"
  rm "$root/root/said"
done
wait
echo "The Debian packages install and work."

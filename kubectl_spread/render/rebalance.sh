stop() {
  printf 'stopped: %s\n' "$*" >&2
  exit 1
}

# Stop where kubectl asks another API server than the plan is of.
check_server() { # URL
  now=$(ask config view --minify --output 'jsonpath={.clusters[0].cluster.server}' 2>/dev/null) || now=
  [ -n "$now" ] || now="https://${KUBERNETES_SERVICE_HOST-}:${KUBERNETES_SERVICE_PORT-}"
  [ "${now%/}" = "${1%/}" ] || stop "kubectl asks $now, and the plan is of $1"
}

# Print a line for each Pod: pod, UID, =node, phase, whether it is kept or deleted, =controller, and ready.
pods() { # NAMESPACE [FLAG...]
  namespace=$1
  shift
  ask get pods --namespace "$namespace" "$@" --output 'go-template={{range .items}}pod {{.metadata.uid}} ={{with .spec.nodeName}}{{.}}{{end}} {{.status.phase}} {{if .metadata.deletionTimestamp}}deleted{{else}}kept{{end}} ={{range .metadata.ownerReferences}}{{if .controller}}{{.kind}}/{{.name}}{{end}}{{end}}{{range .status.conditions}}{{if and (eq .type "Ready") (eq .status "True")}} ready{{end}}{{end}}
{{end}}' || stop "the Pods of namespace $namespace cannot be listed"
}

# Print the UID of a Pod; nothing where there is none.
uid_of() { # NAMESPACE POD
  ask get pod --namespace "$1" --ignore-not-found --output 'go-template={{.metadata.uid}}{{if .metadata.deletionTimestamp}} deleted{{end}}' -- "$2"
}

# Whether a Pod is still to be evicted.
is_there() { # NAMESPACE POD UID
  found=$(uid_of "$1" "$2") || stop "Pod $1/$2 cannot be read"
  [ "$found" = "$3" ] || { printf '%s/%s is evicted already\n' "$1" "$2" && return 1; }
}

# Whether all of some Pods are still to be evicted.
are_there() { # {NAMESPACE POD UID}...
  while [ $# -gt 0 ]; do
    found=$(uid_of "$1" "$2") || stop "Pod $1/$2 cannot be read"
    [ "$found" = "$3" ] || return 1
    shift 3
  done
}

# Stop where a node of the plan has changed, is new or is gone.
check_nodes() {
  now=$(ask get nodes --output "go-template=$NODE") || stop "the nodes cannot be listed"
  differs=$({ planned_nodes && echo && printf '%s\n' "$now"; } | awk '
    !NF { listed = 1; next }
    { name = $1; sub(/^[^ ]+ /, ""); sub(/ +$/, "") }
    !listed { was[name] = $0; next }
    { is[name] = $0 }
    function differs(what) { printf "%s %s", comma, what; comma = "," }
    END {
      for (name in was) if (!(name in is)) differs(name " is gone")
      for (name in is) {
        if (name in was && is[name] != was[name]) differs(name " is \"" is[name] "\" instead of \"" was[name] "\"")
        if (!(name in was) && is[name] ~ / =/) differs(name " is new")
      }
    }')
  [ -z "$differs" ] || stop "nodes differ from the plan:$differs; make a new plan"
}

# Stop where a budget does not allow so many evictions at once, once it was asked again for a while.
allows() { # NAMESPACE BUDGET PODS
  waited=0
  while :; do
    allowed=$(ask get poddisruptionbudget --namespace "$1" --output 'go-template={{.status.disruptionsAllowed}}' -- "$2") ||
      stop "the disruption budget $1/$2 cannot be read"
    [ "$allowed" -lt "$3" ] || return 0
    [ "$waited" -lt "$RETRY_SECONDS" ] || stop "the disruption budget $1/$2 allows $allowed of $3 evictions after $waited seconds"
    sleep 5
    waited=$((waited + 5))
  done
}

# Stop where the Pods are spread otherwise than planned.
check_counts() { # NAMESPACE SELECTOR KEY DOMAINS 'now =DOMAIN PODS'...
  listed=$(pods "$1" --selector "$2") || exit 1
  key=$3 domains=$4
  shift 4
  differs=$({ "$domains" && printf '%s\n' "$@" "$listed"; } | awk '
    $1 == "start" { least[$2] = most[$2] = $3 }
    $1 == "node" { domain["=" $2] = $3 }
    $1 == "now" { least[$2] = $3; most[$2] = $4 }
    $1 == "pod" && $4 != "Succeeded" && $4 != "Failed" && $5 == "kept" && $3 in domain { pods[domain[$3]]++ }
    END {
      for (each in least) if (pods[each] + 0 < least[each] || pods[each] + 0 > most[each]) {
        wanted = least[each] == most[each] ? least[each] : least[each] " to " most[each]
        printf "%s %s has %d instead of %s", comma, substr(each, 2), pods[each], wanted
        comma = ","
      }
    }')
  [ -z "$differs" ] || stop "the Pods are not spread as planned, by $key:$differs; make a new plan"
}

# Evict a Pod; ask again while its disruption budget allows no eviction.
evict() { # NAMESPACE/POD PATH EVICTION
  waited=0
  until answer=$(printf '%s\n' "$3" | ask create --raw "$2" --filename - 2>&1); do
    case $answer in
    *TooManyRequests*) ;;
    *) stop "$1 is not evicted: $answer" ;;
    esac
    [ "$waited" -lt "$RETRY_SECONDS" ] || stop "$1 is not evicted after $waited seconds: $answer"
    sleep 5
    waited=$((waited + 5))
  done
  printf 'evicted %s\n' "$1"
}

# Wait until Pending Pods have a node.
wait_scheduled() { # NAMESPACE UID...
  namespace=$1 waited=0
  shift
  while :; do
    listed=$(pods "$namespace") || exit 1
    left=$(printf '%s\n' "$@" "$listed" | awk '
      NF == 1 { wanted[$1] }
      $1 == "pod" && $2 in wanted && $3 == "=" && $5 == "kept" { left++ }
      END { print left + 0 }')
    [ "$left" -gt 0 ] || return 0
    [ "$waited" -lt "$WAIT_SECONDS" ] ||
      stop "$left of the Pending Pods of $namespace that the plan counts: no node after $waited seconds; make a new plan"
    sleep 2
    waited=$((waited + 2))
  done
}

# Wait until a controller has so many Pods that are Ready, apart from some.
wait_ready() { # NAMESPACE KIND/NAME PODS [UID...]
  namespace=$1 controller=$2 wanted=$3 waited=0
  shift 3
  while :; do
    listed=$(pods "$namespace") || exit 1
    ready=$(printf '%s\n' "$listed" "$@" | awk -v controller="=$controller" '
      NF == 1 { apart[$1] }
      $5 == "kept" && $6 == controller && $7 == "ready" { ready[$2] }
      END { for (uid in ready) if (!(uid in apart)) number++; print number + 0 }')
    [ "$ready" -lt "$wanted" ] || return 0
    [ "$waited" -lt "$WAIT_SECONDS" ] ||
      stop "$ready of $wanted Pods of $namespace/$controller are Ready after $waited seconds: kubectl spread why-pending --namespace $namespace shows why"
    sleep 2
    waited=$((waited + 2))
  done
}

# Wait until an evicted Pod is gone.
wait_gone() { # NAMESPACE POD UID
  waited=0
  while found=$(uid_of "$1" "$2") || stop "Pod $1/$2 cannot be read"; [ "${found%% *}" = "$3" ]; do
    [ "$waited" -lt "$WAIT_SECONDS" ] || stop "$1/$2 is not gone after $waited seconds"
    sleep 2
    waited=$((waited + 2))
  done
}

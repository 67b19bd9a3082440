#!/bin/bash
# J01 json; source: freedomofpress/securedrop-client#1693, theupdateframework/python-tuf#372, serde-rs/json#762
# right behaviour: Refused with 'duplicate key', in all three places.
. "$(dirname "$0")/../_common/lib.sh"
good qa-dup "$HERE/prov.py"; lx extension run qa-dup --input-json "$HERE/dup.json" $EXEC $JSON; rcbad; no_traceback; has duplicate
run qa-dup; rcbad; no_traceback; has duplicate

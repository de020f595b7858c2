chan point = [1] of { byte };
trace { skip }
active proctype P() priority 2 provided (x == 1) { _last; skip } unless { skip }

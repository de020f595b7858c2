typedef point { byte x; byte y };
never { skip }
active proctype P() priority 2 provided (x == 1) { timeout; skip } unless { skip }

typedef Point { byte x; byte y[2] };
typedef Loop { Loop inner };
Point points[2], origin = 1;
active proctype P() {
    points[0].z = 1;
    points[2].x = 1;
    points.x = 1;
    origin = points[0].x;
    skip;
    Point late;
    atomic { origin.x = 1; timeout }
}

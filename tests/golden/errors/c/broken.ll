define i32 @main() {
  %1 = frobnicate i32 5
  ret i32 %1
}

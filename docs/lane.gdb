# For gdb, on x86-64: looks at what another lane of the warp that runs has on its stack.
#
#   lane 7    the registers of lane 7, where it waits; bt, up, print and info locals are then of that lane
#   here      back to the lane that runs; say this before you go on
#
# A lane that waits has pushed r15 to rbp and the address it returns to: simt_fiber_switch in common/simt/machine/fiber.c.

set $lane_shown = 0

define lane
  select-frame 0
  if !$lane_shown
    set $here_rip = $rip
    set $here_rsp = $rsp
    set $here_rbp = $rbp
    set $here_rbx = $rbx
    set $here_r12 = $r12
    set $here_r13 = $r13
    set $here_r14 = $r14
    set $here_r15 = $r15
  end
  set $lane_shown = 1
  set $saved = (unsigned long *)simt_running.warp_lanes[$arg0].stack_pointer
  set $r15 = $saved[0]
  set $r14 = $saved[1]
  set $r13 = $saved[2]
  set $r12 = $saved[3]
  set $rbx = $saved[4]
  set $rbp = $saved[5]
  set $rip = $saved[6]
  set $rsp = (unsigned long)($saved + 7)
end

define here
  select-frame 0
  if $lane_shown
    set $r15 = $here_r15
    set $r14 = $here_r14
    set $r13 = $here_r13
    set $r12 = $here_r12
    set $rbx = $here_rbx
    set $rbp = $here_rbp
    set $rip = $here_rip
    set $rsp = $here_rsp
    set $lane_shown = 0
  end
end

document lane
lane N: look at lane N of the warp that runs, where it waits. Say "here" before you go on.
end

document here
here: back to the lane that runs.
end

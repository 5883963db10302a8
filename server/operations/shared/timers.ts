// Node's timers, for what is handed one (core/plain/recurring-task).

import type { SetTimer } from '../../core/plain/recurring-task.ts'

export const setTimer: SetTimer = (ms, task) => {
  const timer = setTimeout(task, ms)
  return () => clearTimeout(timer)
}

/** Timers that do not keep the process alive. */
export const setUnheldTimer: SetTimer = (ms, task) => {
  const timer = setTimeout(task, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

// The process of a service, which may stand still: a frozen machine or a long garbage collection.
import type { Clock } from '../../../src/stores/clock.ts'
import type { World } from './world.ts'

export interface Process {
  clock: Clock
  /** The time that the process did not stand still. */
  runningMs: () => number
  pause: (milliseconds: number) => void
  /** Passes a result on as soon as the process runs. */
  deliver: <Result>(promise: Promise<Result>) => Promise<Result>
}

export function createProcess (world: World): Process {
  let resumesAt = 0
  let pausedMs = 0

  /** Everything that happened during a pause happens after it, in any order. */
  function whenRunning (callback: () => void): void {
    const waitMs = resumesAt - world.clock.now()
    if (waitMs <= 0) callback()
    else world.after(waitMs + world.between(0, 1), () => whenRunning(callback))
  }

  const running = () => new Promise<void>(whenRunning)
  return {
    clock: {
      now: world.clock.now,
      nextTurn: () => world.clock.nextTurn().then(running),
      setTimer (callback, milliseconds) {
        let isCancelled = false
        const cancel = world.clock.setTimer(
          () => whenRunning(() => { if (!isCancelled) callback() }), milliseconds
        )
        return () => {
          isCancelled = true
          cancel()
        }
      }
    },
    runningMs: () => world.clock.now() - pausedMs + Math.max(0, resumesAt - world.clock.now()),
    pause (milliseconds) {
      if (resumesAt > world.clock.now()) return
      world.note(() => `a process stands still for ${Math.round(milliseconds)} ms`)
      world.count('fault: pause')
      resumesAt = world.clock.now() + milliseconds
      pausedMs += milliseconds
    },
    deliver: promise => promise.finally(running)
  }
}

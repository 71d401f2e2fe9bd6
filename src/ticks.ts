// process.nextTick() at its full speed for as long as the process lives.
import { createHook } from 'node:async_hooks'

/**
 * Keeps one of the objects by which Node queues ticks, and with it what V8 knows of their shape.
 * A request takes several ticks. Between requests there are none: after a few full garbage collections V8 forgets
 * their shape. It then creates each tick property by property, for as long as the process lives: on Node 26 a tick
 * takes 400 ns instead of 60. (V8 remembers one shape for each `{ [key]: value }` in the code; a second one, even of
 * the same properties, makes it give up.)
 */
export function keepTicksFast (): void {
  const hook = createHook({
    // Tracking promises would slow them down.
    trackPromises: false,
    init (_id, type, _trigger, resource) {
      if (type === 'TickObject') kept.push(resource)
    }
  })
  hook.enable()
  process.nextTick(() => {})
  hook.disable()
}

const kept: object[] = []

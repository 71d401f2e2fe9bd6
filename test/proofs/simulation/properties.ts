// What must hold in every schedule. Safety: no false yes. Liveness: every call settles in time.
import type { NewPlant, Outcome } from '../../../src/plants/plant-store.ts'
import type { Data } from './server.ts'
import type { World } from './world.ts'

export interface Violation { property: 'safety' | 'liveness', message: string }

/** @property runningMs the time that the process did not stand still */
interface TimeLimit { withinMs: number, runningMs: () => number }

export interface Properties {
  violations: Violation[]
  /** @param durable what survives a failover at this moment */
  observe: (durable: () => Data) => void
  /** Checks an outcome that a caller gets. */
  onOutcome: (plant: NewPlant, outcome: Outcome) => void
  /** Reports a promise that does not settle within a time of its process. */
  settles: <Result>(name: string, promise: Promise<Result>, limit: TimeLimit) => Promise<Result>
  fail: (property: Violation['property'], message: string) => void
  /** Checks all outcomes again, and that no call is pending. */
  finish: () => void
}

export const textOf = ({ id, name, tag }: { id: bigint, name: string, tag?: string | null }): string => {
  const content = name.length < 20 ? name : `${name.slice(0, 5)}... (${name.length} characters)`
  return `${id} ${content}${tag === undefined || tag === null ? '' : ` #${tag}`}`
}

export function createProperties (world: World): Properties {
  let durable = (): Data => ({ plants: undefined, version: undefined })
  const violations: Violation[] = []
  const outcomes: Array<{ plant: NewPlant, outcome: Outcome }> = []
  const winners = new Map<bigint, string>()
  const acknowledged = new Map<bigint, string>()
  const pending = new Map<symbol, string>()

  function fail (property: Violation['property'], message: string): void {
    world.note(() => `VIOLATION of ${property}: ${message}`)
    violations.push({ property, message })
  }

  /** Fails unless the outcome is true after a failover at this moment. */
  function checkDurable (plant: NewPlant, outcome: Outcome, when: string): void {
    const row = durable().plants?.get(plant.id)
    const isSame = row !== undefined && textOf(row) === textOf(plant)
    const isTrue = outcome === 'conflict' ? row !== undefined && !isSame : isSame
    const found = row === undefined ? 'no plant' : textOf(row)
    if (!isTrue) {
      fail(
        'safety', `${textOf(plant)} was ${outcome}, but ${when} a failover leaves ${found}`
      )
    }
  }

  return {
    violations,
    observe: observed => { durable = observed },
    fail,
    onOutcome (plant, outcome) {
      world.count(`outcome: ${outcome}`)
      outcomes.push({ plant, outcome })
      checkDurable(plant, outcome, 'at that moment')
      if (outcome === 'conflict') return
      const text = textOf(plant)
      const other = acknowledged.get(plant.id) ?? text
      if (other !== text) {
        fail(
          'safety', `two plants were acknowledged for one id: ${other} and ${text}`
        )
      }
      acknowledged.set(plant.id, text)
      if (outcome === 'unchanged') return
      if (winners.has(plant.id)) fail('safety', `${text} was added twice`)
      winners.set(plant.id, text)
    },
    async settles (name, promise, { withinMs, runningMs }) {
      const call = Symbol(name)
      const began = runningMs()
      pending.set(call, name)
      try {
        return await promise
      } finally {
        pending.delete(call)
        const elapsedMs = runningMs() - began
        if (elapsedMs > withinMs) {
          fail(
            'liveness', `${name} took ${Math.round(elapsedMs)} ms, allowed ${withinMs} ms`
          )
        }
      }
    },
    finish () {
      for (const { plant, outcome } of outcomes) checkDurable(plant, outcome, 'at the end')
      for (const name of pending.values()) fail('liveness', `${name} never settled`)
    }
  }
}

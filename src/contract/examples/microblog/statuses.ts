// The handlers of all operations.
import type { EventEmitter } from 'node:events'
import { eventsOf, type FeedEvents } from './events.ts'
import type { Handlers, Schema } from './generated/index.ts'

type Status = Schema<'Status'>

export function statusHandlers (feed: EventEmitter<FeedEvents>): Handlers {
  /** Latest first. */
  let statuses: Status[] = []
  let count = 0

  function remove (status: Status): void {
    statuses = statuses.filter(each => each !== status)
    feed.emit('event', { event: 'delete', data: status.id })
  }

  return {
    postStatus ({ body, principals }) {
      count++
      const account = String(principals.OAuth?.name)
      const status = { id: String(count), account, content: body.status }
      statuses = [status, ...statuses]
      feed.emit('event', { event: 'update', data: status })
      return { status: 200, body: status }
    },

    deleteStatus ({ path: { id }, principals }) {
      const status = statuses.find(each => each.id === id)
      if (status === undefined) return { status: 404, body: { error: 'There is no such status.' } }
      if (status.account !== principals.OAuth?.name) {
        return { status: 403, body: { error: 'Only its author may delete a status.' } }
      }
      remove(status)
      return { status: 200, body: status }
    },

    refuseStatus ({ body: { id } }) {
      const status = statuses.find(each => each.id === id)
      if (status === undefined) return { status: 404, body: { error: 'There is no such status.' } }
      remove(status)
      return { status: 204 }
    },

    readTimeline ({ query: { limit, max_id: maxId } }) {
      const older = statuses.filter(({ id }) => maxId === undefined || Number(id) < Number(maxId))
      const page = older.slice(0, limit)
      const last = page.at(-1)
      if (last === undefined || older.length === page.length) return { status: 200, body: page }
      const next = `</api/v1/timelines/public?limit=${limit}&max_id=${last.id}>; rel="next"`
      return { status: 200, headers: { Link: next }, body: page }
    },

    streamTimeline: () => ({ status: 200, body: eventsOf(feed) })
  }
}

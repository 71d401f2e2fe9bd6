// The handlers of the tag `user`.
import { randomUUID } from 'node:crypto'
import { valueOf } from './body.ts'
import type { HandlersTagged } from './generated/index.ts'
import type { Store, User } from './store.ts'

export function userHandlers ({ users }: Store): HandlersTagged<'user'> {
  const add = (user: User) => {
    users.set(user.username ?? '', user)
    return user
  }
  return {
    createUser (request) {
      if (request.contentType === undefined) return { status: 400 }
      return { status: 200, body: add(valueOf(request)) }
    },

    createUsersWithListInput ({ body = [] }) {
      const [first] = body.map(add)
      return first === undefined ? { status: 400 } : { status: 200, body: first }
    },

    loginUser ({ query: { username = '', password }, accept }) {
      const user = users.get(username)
      if (user === undefined || user.password !== password) return { status: 400 }
      const session = randomUUID()
      if (accept === 'application/xml') {
        return { status: 200, contentType: accept, body: `<session>${session}</session>` }
      }
      return { status: 200, headers: { 'X-Rate-Limit': 5000 }, body: session }
    },

    logoutUser: () => ({ status: 200 }),

    getUserByName ({ path: { username } }) {
      const user = users.get(username)
      return user === undefined ? { status: 404 } : { status: 200, body: user }
    },

    updateUser (request) {
      const { username } = request.path
      if (!users.has(username)) return { status: 404 }
      if (request.contentType === undefined) return { status: 400 }
      users.set(username, { ...valueOf(request), username })
      return { status: 200 }
    },

    deleteUser ({ path: { username } }) {
      return users.delete(username) ? { status: 200 } : { status: 404 }
    }
  }
}

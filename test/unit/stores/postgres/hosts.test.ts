import t from 'tap'
import { hostOf, hostUrls } from '../../../../src/stores/postgres/hosts.ts'

t.test('a URL with several hosts becomes one URL for each host', async t => {
  const urls = {
    'postgres://h/d': ['postgres://h/d'],
    'postgresql://u:p@a,b:5433,[::1]:1/d?sslmode=require': [
      'postgresql://u:p@a/d?sslmode=verify-full', 'postgresql://u:p@b:5433/d?sslmode=verify-full',
      'postgresql://u:p@[::1]:1/d?sslmode=verify-full'
    ],
    'postgres://a,b': ['postgres://a', 'postgres://b'],
    'postgres://u:x,y:z@a,b/d': ['postgres://u:x,y:z@a/d', 'postgres://u:x,y:z@b/d'],
    'postgres:///d?host=/tmp': ['postgres:///d?host=/tmp'],
    'postgres://u@/d?host=/tmp': ['postgres://u@/d?host=/tmp'],
    'postgres://a/d?target_session_attrs=read-write': [
      'postgres://a/d?target_session_attrs=read-write'
    ]
  }
  for (const [url, expected] of Object.entries(urls)) t.strictSame(hostUrls(url), expected, url)
})

t.test('an empty or invalid host and a session attribute of readers are refused', async t => {
  for (const hosts of ['a,,b', 'a,', ',a', 'a:x,b', 'a:70000', 'a b,c']) {
    t.throws(
      () => hostUrls(`postgres://${hosts}/d`),
      { message: 'has a host or port that is not valid' },
      hosts
    )
  }
  t.throws(() => hostUrls('plants'), { message: 'has a host or port that is not valid' })
  for (const wanted of ['standby', 'prefer-standby', 'read-only', '']) {
    const message = `has target_session_attrs=${wanted}, but the service writes: use read-write`
    t.throws(() => hostUrls(`postgres://a,b/d?target_session_attrs=${wanted}`), { message }, wanted)
  }
})

t.test('hostOf() names the host and the port that pg uses', async t => {
  t.strictSame(['postgres://u:p@a/d', 'postgres://[::1]:1/d', 'postgres:///d'].map(hostOf), [
    'a:5432', '[::1]:1', 'localhost:5432'
  ])
  t.equal(hostOf('postgres://u@a:1/d?host=/tmp/pg&port=2'), '/tmp/pg:2', 'parameters come first')
})

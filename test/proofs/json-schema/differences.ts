// Where the engine differs from the JSON Schema Test Suite of 2026-08-22 for 2020-12, and why. The
// groups of a file are numbered from 1.

interface Difference {
  why: string
  /** The groups whose schemas the generator refuses, by file. */
  refused?: Readonly<Record<string, readonly number[]>>
  /** The number of tests that are judged otherwise, by file and group. */
  judged?: Readonly<Record<string, Readonly<Record<number, number>>>>
}

const all21 = Array.from({ length: 21 }, (_, index) => index + 1)

export const differences: readonly Difference[] = [
  {
    why: 'A schema with `properties` and no `type` describes an object, like its TypeScript type.',
    judged: {
      'additionalProperties.json': { 1: 3 },
      'properties.json': { 1: 2 },
      'ref.json': { 1: 2 },
      'required.json': { 1: 5 }
    }
  },
  {
    why: 'A format is checked: it would be an annotation by default, and may be an assertion.',
    judged: {
      'format.json': {
        1: 1, 3: 1, 4: 1, 5: 1, 7: 1, 8: 1, 9: 1, 10: 1, 11: 1, 12: 1, 15: 1, 16: 1, 17: 1, 18: 1, 19: 1
      }
    }
  },
  {
    why: '$anchor, $dynamicAnchor and $dynamicRef are refused by name, or a $ref to one is.',
    refused: {
      'anchor.json': [1, 2, 3, 4],
      'dynamicRef.json': all21,
      'ref.json': [20, 28],
      'refRemote.json': [3, 10, 15],
      'unevaluatedItems.json': [19],
      'unevaluatedProperties.json': [22],
      'optional/anchor.json': [1],
      'optional/dynamicRef.json': [1]
    }
  },
  {
    why: 'References are resolved from the place of the file: none leads to an $id, or is relative ' +
      'to one, unless a file is there, too.',
    refused: {
      'ref.json': [12, 16, 17, 18, 19, 21, 22, 27, 29, 30, 31, 32, 33],
      'refRemote.json': [5, 6, 7, 8, 9, 11, 14],
      'optional/id.json': [1],
      'optional/unknownKeyword.json': [1]
    }
  },
  {
    why: 'The metaschema is on the network, and has $dynamicRef.',
    refused: { 'defs.json': [1], 'ref.json': [7] }
  },
  {
    why: 'A dialect other than 2020-12 is refused by name.',
    refused: {
      'vocabulary.json': [1, 2],
      'optional/cross-draft.json': [1],
      'optional/format-assertion.json': [1, 2]
    }
  },
  {
    why: 'A minContains above maxContains is refused: no array is valid.',
    refused: { 'minContains.json': [6] }
  },
  {
    why: 'The name __proto__ is refused by name.',
    refused: { 'properties.json': [6] }
  },
  {
    why: 'Redocly does not resolve a JSON pointer with empty keys.',
    refused: { 'ref.json': [36] }
  },
  {
    why: 'The keyword dependencies is not in 2020-12; generate warns that it is ignored.',
    judged: {
      'optional/dependencies-compatibility.json': { 1: 1, 3: 3, 4: 2, 5: 3, 6: 2, 7: 3 }
    }
  },
  {
    why: 'ajv divides doubles: 1e308 by 0.5 is no number.',
    judged: { 'optional/float-overflow.json': { 1: 1 } }
  },
  {
    why: 'ajv-formats does not define these formats, so they are not checked.',
    judged: {
      'optional/format/idn-email.json': { 1: 2 },
      'optional/format/idn-hostname.json': { 1: 42, 2: 12 },
      'optional/format/iri.json': { 1: 6 },
      'optional/format/iri-reference.json': { 1: 2 }
    }
  },
  {
    why: 'ajv-formats takes a dot at the end, and does not decode Punycode.',
    judged: { 'optional/format/hostname.json': { 1: 1, 2: 23 } }
  },
  {
    why: 'ajv-formats refuses a local part in quotes and an address in brackets.',
    judged: { 'optional/format/email.json': { 1: 5 } }
  },
  {
    why: 'The regular expressions of ajv-formats are less exact than the standards.',
    judged: {
      'optional/format/date-time.json': { 1: 3 },
      'optional/format/duration.json': { 1: 2 },
      'optional/format/ecmascript-regex.json': { 1: 1 },
      'optional/format/uri.json': { 1: 3 },
      'optional/format/uri-reference.json': { 1: 6 },
      'optional/format/uri-template.json': { 1: 3 },
      'optional/format/uuid.json': { 1: 1 }
    }
  }
]

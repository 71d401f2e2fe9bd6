// Reads and parses the files of a description, for the linter and the bundler.
import { BaseResolver, type Document, Source, type YamlParseError } from '@redocly/openapi-core'
import { relative } from 'node:path'

export class ContractFiles extends BaseResolver {
  /** A line for each file that is probably not UTF-8. */
  readonly warnings = new Set<string>()

  override parseDocument (given: Source, isRoot?: boolean): Document {
    // A byte order mark would count as a column.
    const source = new Source(given.absoluteRef, given.body.replace(/^\uFEFF/, ''))
    const index = source.getLines().findIndex(line => line.includes('\uFFFD'))
    if (index >= 0) {
      const place = `${relative('', source.absoluteRef)}:${index + 1}:1`
      this.warnings.add(`${place} It has the character U+FFFD: save the file as UTF-8.`)
    }
    const { parsed } = this.#parse(source, source, isRoot)
    return { source, parsed }
  }

  /**
   * Brackets, braces and quotes may continue on lines with less indentation, as in most parsers of
   * YAML: the indentation of these lines is no part of a value. js-yaml follows YAML 1.2 (section
   * 8.1), which forbids that, and reports one line at a time.
   */
  #parse (source: Source, original: Source, isRoot?: boolean): Document {
    try {
      return super.parseDocument(source, isRoot)
    } catch (thrown) {
      const error = thrown as YamlParseError
      const index = error.line - 1
      const lines = source.getLines()
      const line = lines[index]
      // Of a file with several documents it has no line.
      if (line === undefined) throw error
      if (error.message.startsWith('deficient indentation')) {
        const text = lines.with(index, ' '.repeat(80) + line).join('\n')
        return this.#parse(new Source(source.absoluteRef, text), original, isRoot)
      }
      const added = line.length - String(original.getLines()[index]).length
      error.message = error.message.replace(/\d+(?=\)$)/, String(error.col - added))
      throw error
    }
  }
}

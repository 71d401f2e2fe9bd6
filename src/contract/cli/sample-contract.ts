// The contract of a new service that has none yet.

export const sampleContract = `openapi: 3.1.0
info:
  title: Notes
  version: 1.0.0
  license: { name: MIT, identifier: MIT }
servers:
  - url: /
security:
  - token: []
tags:
  - name: notes
    description: Texts to remember
paths:
  /notes:
    get:
      operationId: listNotes
      summary: List notes
      tags: [notes]
      parameters:
        - name: limit
          in: query
          schema: { type: integer, minimum: 1, maximum: 100, default: 20 }
      responses:
        '200':
          description: The newest notes
          content:
            application/json:
              schema: { type: array, items: { $ref: '#/components/schemas/Note' } }
        4XX: { $ref: '#/components/responses/Error' }
    post:
      operationId: createNote
      summary: Create a note
      tags: [notes]
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/NewNote' }
      responses:
        '201':
          description: The new note
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Note' }
        4XX: { $ref: '#/components/responses/Error' }
  /notes/{id}:
    parameters:
      - name: id
        in: path
        required: true
        schema: { type: integer }
    get:
      operationId: readNote
      summary: Read a note
      tags: [notes]
      responses:
        '200':
          description: The note
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Note' }
        4XX: { $ref: '#/components/responses/Error' }
components:
  securitySchemes:
    token: { type: http, scheme: bearer }
  responses:
    Error:
      description: What is wrong
      content:
        application/json:
          schema: { $ref: '#/components/schemas/Error' }
  schemas:
    NewNote:
      type: object
      required: [text]
      properties:
        text: { type: string, minLength: 1, maxLength: 1000, examples: [Water the fern] }
    Note:
      allOf:
        - $ref: '#/components/schemas/NewNote'
        - type: object
          required: [id]
          properties:
            id: { type: integer, examples: [1] }
    Error:
      type: object
      required: [message]
      properties:
        message: { type: string }
`

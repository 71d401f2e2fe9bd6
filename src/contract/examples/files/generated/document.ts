// Generated from openapi.yaml by `npx fastify-openapi-contract generate --int64 number`. Do not edit: change the contract and generate again.
export const document: { info: { title: string, [name: string]: unknown }, [name: string]: unknown } = {
  "openapi": "3.1.0",
  "info": {
    "title": "Files",
    "version": "1.0.0",
    "license": {
      "name": "MIT",
      "identifier": "MIT"
    }
  },
  "servers": [
    {
      "url": "https://files.example.com/v1"
    }
  ],
  "security": [
    {
      "ApiKey": []
    }
  ],
  "tags": [
    {
      "name": "files"
    }
  ],
  "paths": {
    "/files": {
      "post": {
        "operationId": "createFile",
        "summary": "Upload a file",
        "tags": [
          "files"
        ],
        "requestBody": {
          "required": true,
          "content": {
            "multipart/form-data": {
              "schema": {
                "type": "object",
                "required": [
                  "purpose",
                  "file"
                ],
                "properties": {
                  "purpose": {
                    "$ref": "#/components/schemas/Purpose"
                  },
                  "file": {
                    "type": "string",
                    "format": "binary"
                  }
                },
                "additionalProperties": false
              }
            }
          }
        },
        "responses": {
          "200": {
            "$ref": "#/components/responses/File"
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      },
      "get": {
        "operationId": "listFiles",
        "summary": "List the files",
        "tags": [
          "files"
        ],
        "parameters": [
          {
            "name": "min_bytes",
            "in": "query",
            "description": "Only files of this size and more.",
            "schema": {
              "type": "integer",
              "format": "int64",
              "minimum": 0,
              "default": 0
            }
          }
        ],
        "responses": {
          "200": {
            "description": "The files, oldest first.",
            "content": {
              "application/json": {
                "schema": {
                  "type": "object",
                  "required": [
                    "data",
                    "total_bytes"
                  ],
                  "properties": {
                    "data": {
                      "type": "array",
                      "items": {
                        "$ref": "#/components/schemas/File"
                      }
                    },
                    "total_bytes": {
                      "type": "integer",
                      "format": "int64"
                    }
                  }
                }
              }
            }
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      }
    },
    "/files/{file_id}": {
      "parameters": [
        {
          "$ref": "#/components/parameters/FileId"
        }
      ],
      "get": {
        "operationId": "readFile",
        "summary": "Describe a file",
        "tags": [
          "files"
        ],
        "responses": {
          "200": {
            "$ref": "#/components/responses/File"
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      },
      "delete": {
        "operationId": "deleteFile",
        "summary": "Delete a file",
        "tags": [
          "files"
        ],
        "responses": {
          "204": {
            "description": "The file is deleted."
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      }
    },
    "/files/{file_id}/content": {
      "parameters": [
        {
          "$ref": "#/components/parameters/FileId"
        }
      ],
      "get": {
        "operationId": "downloadFile",
        "summary": "Download a file",
        "tags": [
          "files"
        ],
        "responses": {
          "200": {
            "description": "The bytes, in the media type of the upload.",
            "headers": {
              "Content-Disposition": {
                "required": true,
                "schema": {
                  "type": "string"
                }
              }
            },
            "content": {
              "*/*": {}
            }
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      },
      "put": {
        "operationId": "replaceContent",
        "summary": "Replace the bytes of a file",
        "tags": [
          "files"
        ],
        "requestBody": {
          "required": true,
          "content": {
            "*/*": {}
          }
        },
        "responses": {
          "200": {
            "$ref": "#/components/responses/File"
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      }
    }
  },
  "components": {
    "parameters": {
      "FileId": {
        "name": "file_id",
        "in": "path",
        "required": true,
        "schema": {
          "type": "string",
          "pattern": "^file-[0-9a-f-]{36}$"
        }
      }
    },
    "responses": {
      "File": {
        "description": "The description of the file.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/File"
            }
          }
        }
      },
      "Error": {
        "description": "What is wrong.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      }
    },
    "schemas": {
      "Purpose": {
        "type": "string",
        "enum": [
          "assistants",
          "batch",
          "user_data"
        ]
      },
      "File": {
        "type": "object",
        "required": [
          "id",
          "bytes",
          "created_at",
          "filename",
          "purpose"
        ],
        "properties": {
          "id": {
            "type": "string"
          },
          "bytes": {
            "type": "integer",
            "format": "int64"
          },
          "created_at": {
            "type": "integer",
            "format": "int64",
            "description": "Seconds since 1970."
          },
          "filename": {
            "type": "string"
          },
          "purpose": {
            "$ref": "#/components/schemas/Purpose"
          }
        }
      },
      "Error": {
        "type": "object",
        "required": [
          "error"
        ],
        "properties": {
          "error": {
            "type": "object",
            "required": [
              "message"
            ],
            "properties": {
              "message": {
                "type": "string"
              }
            }
          }
        }
      }
    },
    "securitySchemes": {
      "ApiKey": {
        "type": "http",
        "scheme": "bearer"
      }
    }
  }
}

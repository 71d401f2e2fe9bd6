// Generated from openapi.yaml by `npx fastify-openapi-contract generate --int64 number`. Do not edit: change the contract and generate again.
export const server = {
  "url": "https://files.example.com/v1",
  "variables": {}
} as const

export const operations = {
  "listFiles": {
    "method": "GET",
    "url": "/files",
    "tags": [
      "files"
    ],
    "security": [
      {
        "ApiKey": []
      }
    ],
    "parameters": [
      {
        "name": "min_bytes",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "minimum": 0,
          "default": 0,
          "type": "integer",
          "maximum": 9007199254740991
        },
        "default": 0
      }
    ],
    "responses": {
      "200": {
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
                    "$ref": "File#"
                  }
                },
                "total_bytes": {
                  "type": "integer",
                  "minimum": -9007199254740991,
                  "maximum": 9007199254740991
                }
              }
            }
          }
        }
      },
      "default": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      }
    }
  },
  "createFile": {
    "method": "POST",
    "url": "/files",
    "tags": [
      "files"
    ],
    "security": [
      {
        "ApiKey": []
      }
    ],
    "parameters": [],
    "body": {
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
                "$ref": "Purpose#"
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
        "content": {
          "application/json": {
            "schema": {
              "$ref": "File#"
            }
          }
        }
      },
      "default": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      }
    }
  },
  "readFile": {
    "method": "GET",
    "url": "/files/{file_id}",
    "tags": [
      "files"
    ],
    "security": [
      {
        "ApiKey": []
      }
    ],
    "parameters": [
      {
        "name": "file_id",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "string",
          "pattern": "^file-[0-9a-f-]{36}$"
        }
      }
    ],
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "File#"
            }
          }
        }
      },
      "default": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      }
    }
  },
  "deleteFile": {
    "method": "DELETE",
    "url": "/files/{file_id}",
    "tags": [
      "files"
    ],
    "security": [
      {
        "ApiKey": []
      }
    ],
    "parameters": [
      {
        "name": "file_id",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "string",
          "pattern": "^file-[0-9a-f-]{36}$"
        }
      }
    ],
    "responses": {
      "204": {},
      "default": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      }
    }
  },
  "downloadFile": {
    "method": "GET",
    "url": "/files/{file_id}/content",
    "tags": [
      "files"
    ],
    "security": [
      {
        "ApiKey": []
      }
    ],
    "parameters": [
      {
        "name": "file_id",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "string",
          "pattern": "^file-[0-9a-f-]{36}$"
        }
      }
    ],
    "responses": {
      "200": {
        "content": {
          "*/*": {}
        },
        "headers": {
          "Content-Disposition": {
            "required": true,
            "schema": {
              "type": "string"
            }
          }
        }
      },
      "default": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      }
    }
  },
  "replaceContent": {
    "method": "PUT",
    "url": "/files/{file_id}/content",
    "tags": [
      "files"
    ],
    "security": [
      {
        "ApiKey": []
      }
    ],
    "parameters": [
      {
        "name": "file_id",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "string",
          "pattern": "^file-[0-9a-f-]{36}$"
        }
      }
    ],
    "body": {
      "required": true,
      "content": {
        "*/*": {}
      }
    },
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "File#"
            }
          }
        }
      },
      "default": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      }
    }
  }
} as const

export const schemas = {
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
        "minimum": -9007199254740991,
        "maximum": 9007199254740991
      },
      "created_at": {
        "type": "integer",
        "minimum": -9007199254740991,
        "maximum": 9007199254740991
      },
      "filename": {
        "type": "string"
      },
      "purpose": {
        "$ref": "Purpose#"
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
} as const

export const securitySchemes = {
  "ApiKey": {
    "type": "http",
    "scheme": "bearer"
  }
} as const

export const skipped = [] as const

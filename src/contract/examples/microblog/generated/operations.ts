// Generated from openapi.yaml by `npx fastify-openapi-contract generate`. Do not edit: change the contract and generate again.
export const server = {
  "url": "https://blog.example.com/api/v1",
  "variables": {}
} as const

export const operations = {
  "postStatus": {
    "method": "POST",
    "url": "/statuses",
    "tags": [
      "statuses"
    ],
    "extensions": {
      "x-rate-limit": 3,
      "x-idempotent": true
    },
    "security": [
      {
        "OAuth": [
          "write:statuses"
        ]
      }
    ],
    "parameters": [
      {
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "string",
          "minLength": 1,
          "maxLength": 100
        }
      }
    ],
    "body": {
      "required": true,
      "content": {
        "application/json": {
          "schema": {
            "type": "object",
            "required": [
              "status"
            ],
            "properties": {
              "status": {
                "type": "string",
                "minLength": 1,
                "maxLength": 500
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
              "$ref": "Status#"
            }
          }
        }
      },
      "409": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      },
      "422": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      },
      "429": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
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
  "deleteStatus": {
    "method": "DELETE",
    "url": "/statuses/{id}",
    "tags": [
      "statuses"
    ],
    "security": [
      {
        "OAuth": [
          "write:statuses"
        ]
      }
    ],
    "parameters": [
      {
        "name": "id",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "$ref": "StatusId#"
        }
      }
    ],
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Status#"
            }
          }
        }
      },
      "403": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      },
      "404": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
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
  "refuseStatus": {
    "method": "POST",
    "url": "/moderation/refusals",
    "tags": [
      "statuses"
    ],
    "extensions": {
      "x-signed": true
    },
    "security": [
      {
        "Signature": []
      }
    ],
    "parameters": [],
    "body": {
      "required": true,
      "content": {
        "application/json": {
          "schema": {
            "type": "object",
            "required": [
              "id"
            ],
            "properties": {
              "id": {
                "$ref": "StatusId#"
              }
            }
          }
        }
      }
    },
    "responses": {
      "204": {},
      "403": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        }
      },
      "404": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
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
  "readTimeline": {
    "method": "GET",
    "url": "/timelines/public",
    "tags": [
      "timelines"
    ],
    "security": [
      {
        "OAuth": [
          "read:statuses"
        ]
      }
    ],
    "parameters": [
      {
        "name": "limit",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "type": "integer",
          "minimum": 1,
          "maximum": 40,
          "default": 20
        },
        "default": 20
      },
      {
        "name": "max_id",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "$ref": "StatusId#"
        }
      }
    ],
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "type": "array",
              "items": {
                "$ref": "Status#"
              }
            }
          }
        },
        "headers": {
          "Link": {
            "required": false,
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
  "streamTimeline": {
    "method": "GET",
    "url": "/streaming/public",
    "tags": [
      "timelines"
    ],
    "security": [
      {
        "OAuth": [
          "read:statuses"
        ]
      }
    ],
    "parameters": [],
    "responses": {
      "200": {
        "content": {
          "text/event-stream": {
            "schema": {
              "oneOf": [
                {
                  "type": "object",
                  "required": [
                    "event",
                    "data"
                  ],
                  "properties": {
                    "event": {
                      "const": "update"
                    },
                    "data": {
                      "$ref": "Status#"
                    }
                  }
                },
                {
                  "type": "object",
                  "required": [
                    "event",
                    "data"
                  ],
                  "properties": {
                    "event": {
                      "const": "delete"
                    },
                    "data": {
                      "$ref": "StatusId#"
                    }
                  }
                }
              ]
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
  "StatusId": {
    "type": "string",
    "pattern": "^\\d{1,18}$"
  },
  "Status": {
    "type": "object",
    "required": [
      "id",
      "account",
      "content"
    ],
    "properties": {
      "id": {
        "$ref": "StatusId#"
      },
      "account": {
        "type": "string"
      },
      "content": {
        "type": "string"
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
        "type": "string"
      }
    }
  }
} as const

export const securitySchemes = {
  "Signature": {
    "type": "apiKey",
    "name": "X-Signature-256",
    "in": "header"
  },
  "OAuth": {
    "type": "oauth2"
  }
} as const

export const skipped = [] as const

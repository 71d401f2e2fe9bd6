// Generated from openapi.yaml by `npx fastify-openapi-contract generate`. Do not edit: change the contract and generate again.
export const document: { info: { title: string, [name: string]: unknown }, [name: string]: unknown } = {
  "openapi": "3.1.0",
  "info": {
    "title": "Microblog",
    "version": "1.0.0",
    "license": {
      "name": "MIT",
      "identifier": "MIT"
    }
  },
  "servers": [
    {
      "url": "https://blog.example.com/api/v1"
    }
  ],
  "tags": [
    {
      "name": "statuses"
    },
    {
      "name": "timelines"
    }
  ],
  "paths": {
    "/statuses": {
      "post": {
        "operationId": "postStatus",
        "summary": "Publish a status",
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
        "x-rate-limit": 3,
        "x-idempotent": true,
        "parameters": [
          {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "A request that is sent again with the same key publishes nothing.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 100
            }
          }
        ],
        "requestBody": {
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
            "$ref": "#/components/responses/Status"
          },
          "409": {
            "$ref": "#/components/responses/Error"
          },
          "422": {
            "$ref": "#/components/responses/Error"
          },
          "429": {
            "$ref": "#/components/responses/Error"
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      }
    },
    "/statuses/{id}": {
      "delete": {
        "operationId": "deleteStatus",
        "summary": "Delete a status",
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
            "schema": {
              "$ref": "#/components/schemas/StatusId"
            }
          }
        ],
        "responses": {
          "200": {
            "$ref": "#/components/responses/Status"
          },
          "403": {
            "$ref": "#/components/responses/Error"
          },
          "404": {
            "$ref": "#/components/responses/Error"
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      }
    },
    "/moderation/refusals": {
      "post": {
        "operationId": "refuseStatus",
        "summary": "Delete a status that the moderators have refused",
        "tags": [
          "statuses"
        ],
        "security": [
          {
            "Signature": []
          }
        ],
        "x-signed": true,
        "requestBody": {
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
                    "$ref": "#/components/schemas/StatusId"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "204": {
            "description": "The status is deleted."
          },
          "403": {
            "$ref": "#/components/responses/Error"
          },
          "404": {
            "$ref": "#/components/responses/Error"
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      }
    },
    "/timelines/public": {
      "get": {
        "operationId": "readTimeline",
        "summary": "Read a page of the timeline",
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
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 40,
              "default": 20
            }
          },
          {
            "name": "max_id",
            "in": "query",
            "description": "Only older statuses than this one.",
            "schema": {
              "$ref": "#/components/schemas/StatusId"
            }
          }
        ],
        "responses": {
          "200": {
            "description": "The statuses of the page, latest first.",
            "headers": {
              "Link": {
                "description": "The address of the next page, if there is one (RFC 8288).",
                "schema": {
                  "type": "string"
                }
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "type": "array",
                  "items": {
                    "$ref": "#/components/schemas/Status"
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
    "/streaming/public": {
      "get": {
        "operationId": "streamTimeline",
        "summary": "Receive statuses as they are published",
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
        "responses": {
          "200": {
            "description": "An event for each status that is published or deleted.",
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
                          "$ref": "#/components/schemas/Status"
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
                          "$ref": "#/components/schemas/StatusId"
                        }
                      }
                    }
                  ]
                }
              }
            }
          },
          "default": {
            "$ref": "#/components/responses/Error"
          }
        }
      }
    }
  },
  "components": {
    "responses": {
      "Status": {
        "description": "The status.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Status"
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
            "$ref": "#/components/schemas/StatusId"
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
    },
    "securitySchemes": {
      "Signature": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Signature-256",
        "description": "The HMAC of the body with SHA-256, in hexadecimal digits."
      },
      "OAuth": {
        "type": "oauth2",
        "flows": {
          "authorizationCode": {
            "authorizationUrl": "https://blog.example.com/oauth/authorize",
            "tokenUrl": "https://blog.example.com/oauth/token",
            "scopes": {
              "read:statuses": "Read statuses",
              "write:statuses": "Publish and delete statuses"
            }
          }
        }
      }
    }
  }
}

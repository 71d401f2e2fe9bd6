// Generated from openapi.yaml by `npm run generate`. Do not edit: change the contract and generate again.
export const document: { info: { title: string, [name: string]: unknown }, [name: string]: unknown } = {
  "openapi": "3.1.0",
  "info": {
    "title": "Plant Store",
    "version": "1.0.0",
    "summary": "A plant store with one operation, which adds a plant.",
    "description": "Each request to an operation needs a bearer token. Each error is a JSON object with `error`, the HTTP status, and `message`, sentences that describe the error.\n\nThe header field `X-Request-Id` of each response is the id of the request in the log of the service, which tells of refused and failed requests, and sums them up when they are many: name it in a complaint. A request may bring its own in a header field of this name, of 1 to 128 characters that are letters, digits, or one of `_.~+/=:@-`. Any other value, and a missing one, is replaced by a new id.",
    "license": {
      "name": "MIT",
      "identifier": "MIT"
    }
  },
  "servers": [
    {
      "url": "{base_url}",
      "description": "The service",
      "variables": {
        "base_url": {
          "default": "/"
        }
      }
    }
  ],
  "security": [
    {
      "bearerAuth": []
    }
  ],
  "tags": [
    {
      "name": "plants",
      "description": "The plants of the store."
    }
  ],
  "paths": {
    "/plants": {
      "post": {
        "operationId": "createPlant",
        "summary": "Create a plant",
        "description": "Creates a new plant in the store. The service stores the plant durably before it sends the response. The same request again changes nothing and gets the same response, so a client may retry when a response was lost.",
        "tags": [
          "plants"
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/NewPlant"
              },
              "examples": {
                "fern": {
                  "summary": "A fern",
                  "value": {
                    "id": 1,
                    "name": "Boston fern",
                    "tag": "fern"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "plant response: the plant is stored durably. The body has its name and tag, not its id.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "ratelimit-limit": {
                "$ref": "#/components/headers/ratelimit-limit"
              },
              "ratelimit-remaining": {
                "$ref": "#/components/headers/ratelimit-remaining"
              },
              "ratelimit-reset": {
                "$ref": "#/components/headers/ratelimit-reset"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Plant"
                },
                "example": {
                  "name": "Boston fern",
                  "tag": "fern"
                }
              }
            }
          },
          "400": {
            "description": "unexpected error: the request breaks a rule, which the message names. Nothing is stored.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "ratelimit-limit": {
                "$ref": "#/components/headers/ratelimit-limit"
              },
              "ratelimit-remaining": {
                "$ref": "#/components/headers/ratelimit-remaining"
              },
              "ratelimit-reset": {
                "$ref": "#/components/headers/ratelimit-reset"
              },
              "WWW-Authenticate": {
                "description": "The Bearer challenge of RFC 6750, section 3. Sent if the field Authorization is malformed.",
                "schema": {
                  "type": "string",
                  "examples": [
                    "Bearer realm=\"plant-store\", error=\"invalid_request\""
                  ]
                }
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 400,
                  "message": "\"id\" in the body must be an integer from -9223372036854775808 to 9223372036854775807."
                }
              }
            }
          },
          "401": {
            "$ref": "#/components/responses/Unauthorized"
          },
          "408": {
            "description": "The request did not arrive in time. A retry is safe.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 408,
                  "message": "The request did not arrive within 10 s, or its Content-Length is too large."
                }
              }
            }
          },
          "409": {
            "description": "Another plant already has this id. The stored plant does not change.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "ratelimit-limit": {
                "$ref": "#/components/headers/ratelimit-limit"
              },
              "ratelimit-remaining": {
                "$ref": "#/components/headers/ratelimit-remaining"
              },
              "ratelimit-reset": {
                "$ref": "#/components/headers/ratelimit-reset"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 409,
                  "message": "Another plant has the id 1. The stored plant does not change."
                }
              }
            }
          },
          "413": {
            "description": "The body is larger than the service accepts.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "ratelimit-limit": {
                "$ref": "#/components/headers/ratelimit-limit"
              },
              "ratelimit-remaining": {
                "$ref": "#/components/headers/ratelimit-remaining"
              },
              "ratelimit-reset": {
                "$ref": "#/components/headers/ratelimit-reset"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 413,
                  "message": "The body is larger than 65536 bytes, the limit of this service."
                }
              }
            }
          },
          "415": {
            "description": "The media type is not `application/json` in UTF-8, or the request has a `Content-Encoding`.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "ratelimit-limit": {
                "$ref": "#/components/headers/ratelimit-limit"
              },
              "ratelimit-remaining": {
                "$ref": "#/components/headers/ratelimit-remaining"
              },
              "ratelimit-reset": {
                "$ref": "#/components/headers/ratelimit-reset"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 415,
                  "message": "The body must be sent as Content-Type: application/json, in UTF-8."
                }
              }
            }
          },
          "429": {
            "$ref": "#/components/responses/TooManyRequests"
          },
          "500": {
            "description": "The service failed. Its log records the cause.",
            "headers": {
              "X-Request-Id": {
                "$ref": "#/components/headers/X-Request-Id"
              },
              "ratelimit-limit": {
                "$ref": "#/components/headers/ratelimit-limit"
              },
              "ratelimit-remaining": {
                "$ref": "#/components/headers/ratelimit-remaining"
              },
              "ratelimit-reset": {
                "$ref": "#/components/headers/ratelimit-reset"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Error"
                },
                "example": {
                  "error": 500,
                  "message": "The service failed. Its log records the cause."
                }
              }
            }
          },
          "503": {
            "$ref": "#/components/responses/Unavailable"
          }
        }
      }
    }
  },
  "components": {
    "securitySchemes": {
      "bearerAuth": {
        "type": "http",
        "scheme": "bearer",
        "description": "An access token of this service: the text of the file `access-token` beside its database, such as `data/access-token`, or one from its operator. Enter only the token, without the word Bearer."
      }
    },
    "headers": {
      "X-Request-Id": {
        "description": "The id of this request in the log of the service.",
        "required": true,
        "schema": {
          "type": "string",
          "examples": [
            "7b6c2f0e-6f7a-4f5e-9d4f-0a1a4f9c3b52"
          ]
        }
      },
      "ratelimit-limit": {
        "description": "Requests per minute that the token may make, if the service limits them.",
        "schema": {
          "type": "integer",
          "examples": [
            600
          ]
        }
      },
      "ratelimit-remaining": {
        "description": "How many of them are left in this minute.",
        "schema": {
          "type": "integer",
          "examples": [
            599
          ]
        }
      },
      "ratelimit-reset": {
        "description": "Seconds until the minute ends.",
        "schema": {
          "type": "integer",
          "examples": [
            42
          ]
        }
      }
    },
    "responses": {
      "Unauthorized": {
        "description": "The bearer token is missing or not accepted.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "WWW-Authenticate": {
            "description": "The Bearer challenge of RFC 6750, section 3.",
            "required": true,
            "schema": {
              "type": "string",
              "examples": [
                "Bearer realm=\"plant-store\", error=\"invalid_token\""
              ]
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            },
            "example": {
              "error": 401,
              "message": "The bearer token is not accepted."
            }
          }
        }
      },
      "TooManyRequests": {
        "description": "The token has reached its limit of requests per minute, or the address its limit of requests without an accepted token.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "ratelimit-limit": {
            "$ref": "#/components/headers/ratelimit-limit"
          },
          "ratelimit-remaining": {
            "$ref": "#/components/headers/ratelimit-remaining"
          },
          "ratelimit-reset": {
            "$ref": "#/components/headers/ratelimit-reset"
          },
          "Retry-After": {
            "description": "Seconds to wait before the next request.",
            "required": true,
            "schema": {
              "type": "integer",
              "examples": [
                5
              ]
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            },
            "example": {
              "error": 429,
              "message": "This token may make 600 requests per minute. Retry-After gives the seconds to wait."
            }
          }
        }
      },
      "Unavailable": {
        "description": "The service cannot store the plant durably or check the token now, is overloaded, or could not confirm in time that the plant is stored. A retry of the same request is safe.",
        "headers": {
          "X-Request-Id": {
            "$ref": "#/components/headers/X-Request-Id"
          },
          "ratelimit-limit": {
            "$ref": "#/components/headers/ratelimit-limit"
          },
          "ratelimit-remaining": {
            "$ref": "#/components/headers/ratelimit-remaining"
          },
          "ratelimit-reset": {
            "$ref": "#/components/headers/ratelimit-reset"
          },
          "Retry-After": {
            "description": "Seconds to wait before the next request.",
            "required": true,
            "schema": {
              "type": "integer",
              "examples": [
                5
              ]
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            },
            "example": {
              "error": 503,
              "message": "The service could not confirm that the plant is stored. Sending the same plant again is safe."
            }
          }
        }
      }
    },
    "schemas": {
      "Plant": {
        "type": "object",
        "required": [
          "name"
        ],
        "properties": {
          "name": {
            "type": "string",
            "description": "The name of the plant. Any text without U+0000 and without lone surrogates.",
            "pattern": "^[^\\x00]*$"
          },
          "tag": {
            "type": "string",
            "description": "Tag that specifies the type of the plant. Any text without U+0000 and without lone surrogates.",
            "pattern": "^[^\\x00]*$"
          }
        }
      },
      "NewPlant": {
        "allOf": [
          {
            "$ref": "#/components/schemas/Plant"
          },
          {
            "type": "object",
            "required": [
              "id"
            ],
            "properties": {
              "id": {
                "type": "integer",
                "format": "int64",
                "description": "Identification number of the plant, -9223372036854775808 to 9223372036854775807. Numbers of JavaScript, and of JSON parsers that use doubles, are exact only from -9007199254740991 to 9007199254740991: larger ids need 64-bit integers, such as BigInt with JSON.rawJSON, or another plant gets the id."
              }
            }
          }
        ]
      },
      "Error": {
        "type": "object",
        "required": [
          "error",
          "message"
        ],
        "properties": {
          "error": {
            "type": "integer",
            "format": "int32",
            "description": "The HTTP status code of the response."
          },
          "message": {
            "type": "string",
            "description": "Sentences that describe the error. A request with several faults gets one for each, up to ten."
          }
        }
      }
    }
  }
}

// Generated from openapi.yaml by `npm run generate`. Do not edit: change the contract and generate again.
export const server = {
  "url": "{base_url}",
  "variables": {
    "base_url": "/"
  }
} as const

export const operations = {
  "createPlant": {
    "method": "POST",
    "url": "/plants",
    "tags": [
      "plants"
    ],
    "security": [
      {
        "bearerAuth": []
      }
    ],
    "parameters": [],
    "body": {
      "required": true,
      "content": {
        "application/json": {
          "schema": {
            "$ref": "NewPlant#"
          }
        }
      }
    },
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Plant#"
            }
          }
        },
        "headers": {
          "ratelimit-limit": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-remaining": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-reset": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          }
        }
      },
      "400": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        },
        "headers": {
          "ratelimit-limit": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-remaining": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-reset": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "WWW-Authenticate": {
            "required": false,
            "schema": {
              "type": "string"
            }
          }
        }
      },
      "401": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        },
        "headers": {
          "WWW-Authenticate": {
            "required": true,
            "schema": {
              "type": "string"
            }
          }
        }
      },
      "408": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
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
        },
        "headers": {
          "ratelimit-limit": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-remaining": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-reset": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          }
        }
      },
      "413": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        },
        "headers": {
          "ratelimit-limit": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-remaining": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-reset": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          }
        }
      },
      "415": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        },
        "headers": {
          "ratelimit-limit": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-remaining": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-reset": {
            "required": false,
            "schema": {
              "type": "integer"
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
        },
        "headers": {
          "ratelimit-limit": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-remaining": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-reset": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "Retry-After": {
            "required": true,
            "schema": {
              "type": "integer"
            }
          }
        }
      },
      "500": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        },
        "headers": {
          "ratelimit-limit": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-remaining": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-reset": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          }
        }
      },
      "503": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Error#"
            }
          }
        },
        "headers": {
          "ratelimit-limit": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-remaining": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "ratelimit-reset": {
            "required": false,
            "schema": {
              "type": "integer"
            }
          },
          "Retry-After": {
            "required": true,
            "schema": {
              "type": "integer"
            }
          }
        }
      }
    }
  }
} as const

export const schemas = {
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
        "$ref": "Plant#"
      },
      {
        "type": "object",
        "required": [
          "id"
        ],
        "properties": {
          "id": {
            "type": "integer",
            "format": "int64"
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
        "format": "int32"
      },
      "message": {
        "type": "string"
      }
    }
  }
} as const

export const securitySchemes = {
  "bearerAuth": {
    "type": "http",
    "scheme": "bearer"
  }
} as const

export const skipped = [] as const

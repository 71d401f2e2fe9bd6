// Generated from openapi.yaml by `npx fastify-openapi-contract generate --allow-open`. Do not edit: change the contract and generate again.
export const server = {
  "url": "https://petstore3.swagger.io/api/v3",
  "variables": {}
} as const

export const operations = {
  "updatePet": {
    "method": "PUT",
    "url": "/pet",
    "tags": [
      "pet"
    ],
    "security": [
      {
        "petstore_auth": [
          "write:pets",
          "read:pets"
        ]
      }
    ],
    "parameters": [],
    "body": {
      "required": true,
      "content": {
        "application/json": {
          "schema": {
            "$ref": "Pet#"
          }
        },
        "application/xml": {
          "schema": {
            "$ref": "Pet#"
          }
        },
        "application/x-www-form-urlencoded": {
          "schema": {
            "$ref": "Pet#"
          }
        }
      }
    },
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Pet#"
            }
          },
          "application/xml": {
            "schema": {
              "$ref": "Pet#"
            }
          }
        }
      },
      "400": {},
      "404": {},
      "422": {},
      "default": {}
    }
  },
  "addPet": {
    "method": "POST",
    "url": "/pet",
    "tags": [
      "pet"
    ],
    "security": [
      {
        "petstore_auth": [
          "write:pets",
          "read:pets"
        ]
      }
    ],
    "parameters": [],
    "body": {
      "required": true,
      "content": {
        "application/json": {
          "schema": {
            "$ref": "Pet#"
          }
        },
        "application/xml": {
          "schema": {
            "$ref": "Pet#"
          }
        },
        "application/x-www-form-urlencoded": {
          "schema": {
            "$ref": "Pet#"
          }
        }
      }
    },
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Pet#"
            }
          },
          "application/xml": {
            "schema": {
              "$ref": "Pet#"
            }
          }
        }
      },
      "400": {},
      "422": {},
      "default": {}
    }
  },
  "findPetsByStatus": {
    "method": "GET",
    "url": "/pet/findByStatus",
    "tags": [
      "pet"
    ],
    "security": [
      {
        "petstore_auth": [
          "write:pets",
          "read:pets"
        ]
      }
    ],
    "parameters": [
      {
        "name": "status",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "type": "string",
          "default": "available",
          "enum": [
            "available",
            "pending",
            "sold"
          ]
        },
        "default": "available"
      }
    ],
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "type": "array",
              "items": {
                "$ref": "Pet#"
              }
            }
          },
          "application/xml": {
            "schema": {
              "type": "array",
              "items": {
                "$ref": "Pet#"
              }
            }
          }
        }
      },
      "400": {},
      "default": {}
    }
  },
  "findPetsByTags": {
    "method": "GET",
    "url": "/pet/findByTags",
    "tags": [
      "pet"
    ],
    "security": [
      {
        "petstore_auth": [
          "write:pets",
          "read:pets"
        ]
      }
    ],
    "parameters": [
      {
        "name": "tags",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "type": "array",
          "items": {
            "type": "string"
          }
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
                "$ref": "Pet#"
              }
            }
          },
          "application/xml": {
            "schema": {
              "type": "array",
              "items": {
                "$ref": "Pet#"
              }
            }
          }
        }
      },
      "400": {},
      "default": {}
    }
  },
  "getPetById": {
    "method": "GET",
    "url": "/pet/{petId}",
    "tags": [
      "pet"
    ],
    "security": [
      {
        "api_key": []
      },
      {
        "petstore_auth": [
          "write:pets",
          "read:pets"
        ]
      }
    ],
    "parameters": [
      {
        "name": "petId",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "integer",
          "format": "int64"
        }
      }
    ],
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Pet#"
            }
          },
          "application/xml": {
            "schema": {
              "$ref": "Pet#"
            }
          }
        }
      },
      "400": {},
      "404": {},
      "default": {}
    }
  },
  "updatePetWithForm": {
    "method": "POST",
    "url": "/pet/{petId}",
    "tags": [
      "pet"
    ],
    "security": [
      {
        "petstore_auth": [
          "write:pets",
          "read:pets"
        ]
      }
    ],
    "parameters": [
      {
        "name": "petId",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "integer",
          "format": "int64"
        }
      },
      {
        "name": "name",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "type": "string"
        }
      },
      {
        "name": "status",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "type": "string"
        }
      }
    ],
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Pet#"
            }
          },
          "application/xml": {
            "schema": {
              "$ref": "Pet#"
            }
          }
        }
      },
      "400": {},
      "default": {}
    }
  },
  "deletePet": {
    "method": "DELETE",
    "url": "/pet/{petId}",
    "tags": [
      "pet"
    ],
    "security": [
      {
        "petstore_auth": [
          "write:pets",
          "read:pets"
        ]
      }
    ],
    "parameters": [
      {
        "name": "api_key",
        "in": "header",
        "required": false,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "string"
        }
      },
      {
        "name": "petId",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "integer",
          "format": "int64"
        }
      }
    ],
    "responses": {
      "200": {},
      "400": {},
      "default": {}
    }
  },
  "uploadFile": {
    "method": "POST",
    "url": "/pet/{petId}/uploadImage",
    "tags": [
      "pet"
    ],
    "security": [
      {
        "petstore_auth": [
          "write:pets",
          "read:pets"
        ]
      }
    ],
    "parameters": [
      {
        "name": "petId",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "integer",
          "format": "int64"
        }
      },
      {
        "name": "additionalMetadata",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "type": "string"
        }
      }
    ],
    "body": {
      "required": false,
      "content": {
        "application/octet-stream": {
          "schema": {}
        }
      }
    },
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "ApiResponse#"
            }
          }
        }
      },
      "400": {},
      "404": {},
      "default": {}
    }
  },
  "getInventory": {
    "method": "GET",
    "url": "/store/inventory",
    "tags": [
      "store"
    ],
    "extensions": {
      "x-swagger-router-controller": "OrderController"
    },
    "security": [
      {
        "api_key": []
      }
    ],
    "parameters": [],
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "type": "object",
              "additionalProperties": {
                "type": "integer",
                "format": "int32"
              }
            }
          }
        }
      },
      "default": {}
    }
  },
  "placeOrder": {
    "method": "POST",
    "url": "/store/order",
    "tags": [
      "store"
    ],
    "extensions": {
      "x-swagger-router-controller": "OrderController"
    },
    "security": [],
    "parameters": [],
    "body": {
      "required": false,
      "content": {
        "application/json": {
          "schema": {
            "$ref": "Order#"
          }
        },
        "application/xml": {
          "schema": {
            "$ref": "Order#"
          }
        },
        "application/x-www-form-urlencoded": {
          "schema": {
            "$ref": "Order#"
          }
        }
      }
    },
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Order#"
            }
          }
        }
      },
      "400": {},
      "422": {},
      "default": {}
    }
  },
  "getOrderById": {
    "method": "GET",
    "url": "/store/order/{orderId}",
    "tags": [
      "store"
    ],
    "extensions": {
      "x-swagger-router-controller": "OrderController"
    },
    "security": [],
    "parameters": [
      {
        "name": "orderId",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "integer",
          "format": "int64"
        }
      }
    ],
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "Order#"
            }
          },
          "application/xml": {
            "schema": {
              "$ref": "Order#"
            }
          }
        }
      },
      "400": {},
      "404": {},
      "default": {}
    }
  },
  "deleteOrder": {
    "method": "DELETE",
    "url": "/store/order/{orderId}",
    "tags": [
      "store"
    ],
    "extensions": {
      "x-swagger-router-controller": "OrderController"
    },
    "security": [],
    "parameters": [
      {
        "name": "orderId",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "integer",
          "format": "int64"
        }
      }
    ],
    "responses": {
      "200": {},
      "400": {},
      "404": {},
      "default": {}
    }
  },
  "createUser": {
    "method": "POST",
    "url": "/user",
    "tags": [
      "user"
    ],
    "extensions": {
      "x-swagger-router-controller": "UserController"
    },
    "security": [],
    "parameters": [],
    "body": {
      "required": false,
      "content": {
        "application/json": {
          "schema": {
            "$ref": "User#"
          }
        },
        "application/xml": {
          "schema": {
            "$ref": "User#"
          }
        },
        "application/x-www-form-urlencoded": {
          "schema": {
            "$ref": "User#"
          }
        }
      }
    },
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "User#"
            }
          },
          "application/xml": {
            "schema": {
              "$ref": "User#"
            }
          }
        }
      },
      "default": {}
    }
  },
  "createUsersWithListInput": {
    "method": "POST",
    "url": "/user/createWithList",
    "tags": [
      "user"
    ],
    "extensions": {
      "x-swagger-router-controller": "UserController"
    },
    "security": [],
    "parameters": [],
    "body": {
      "required": false,
      "content": {
        "application/json": {
          "schema": {
            "type": "array",
            "items": {
              "$ref": "User#"
            }
          }
        }
      }
    },
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "User#"
            }
          },
          "application/xml": {
            "schema": {
              "$ref": "User#"
            }
          }
        }
      },
      "default": {}
    }
  },
  "loginUser": {
    "method": "GET",
    "url": "/user/login",
    "tags": [
      "user"
    ],
    "security": [],
    "parameters": [
      {
        "name": "username",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "type": "string"
        }
      },
      {
        "name": "password",
        "in": "query",
        "required": false,
        "style": "form",
        "explode": true,
        "schema": {
          "type": "string"
        }
      }
    ],
    "responses": {
      "200": {
        "content": {
          "application/xml": {
            "schema": {
              "type": "string"
            }
          },
          "application/json": {
            "schema": {
              "type": "string"
            }
          }
        },
        "headers": {
          "X-Rate-Limit": {
            "required": false,
            "schema": {
              "type": "integer",
              "format": "int32"
            }
          },
          "X-Expires-After": {
            "required": false,
            "schema": {
              "type": "string",
              "format": "date-time"
            }
          }
        }
      },
      "400": {},
      "default": {}
    }
  },
  "logoutUser": {
    "method": "GET",
    "url": "/user/logout",
    "tags": [
      "user"
    ],
    "security": [],
    "parameters": [],
    "responses": {
      "200": {},
      "default": {}
    }
  },
  "getUserByName": {
    "method": "GET",
    "url": "/user/{username}",
    "tags": [
      "user"
    ],
    "security": [],
    "parameters": [
      {
        "name": "username",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "string"
        }
      }
    ],
    "responses": {
      "200": {
        "content": {
          "application/json": {
            "schema": {
              "$ref": "User#"
            }
          },
          "application/xml": {
            "schema": {
              "$ref": "User#"
            }
          }
        }
      },
      "400": {},
      "404": {},
      "default": {}
    }
  },
  "updateUser": {
    "method": "PUT",
    "url": "/user/{username}",
    "tags": [
      "user"
    ],
    "extensions": {
      "x-swagger-router-controller": "UserController"
    },
    "security": [],
    "parameters": [
      {
        "name": "username",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "string"
        }
      }
    ],
    "body": {
      "required": false,
      "content": {
        "application/json": {
          "schema": {
            "$ref": "User#"
          }
        },
        "application/xml": {
          "schema": {
            "$ref": "User#"
          }
        },
        "application/x-www-form-urlencoded": {
          "schema": {
            "$ref": "User#"
          }
        }
      }
    },
    "responses": {
      "200": {},
      "400": {},
      "404": {},
      "default": {}
    }
  },
  "deleteUser": {
    "method": "DELETE",
    "url": "/user/{username}",
    "tags": [
      "user"
    ],
    "security": [],
    "parameters": [
      {
        "name": "username",
        "in": "path",
        "required": true,
        "style": "simple",
        "explode": false,
        "schema": {
          "type": "string"
        }
      }
    ],
    "responses": {
      "200": {},
      "400": {},
      "404": {},
      "default": {}
    }
  }
} as const

export const schemas = {
  "Order": {
    "type": "object",
    "properties": {
      "id": {
        "type": "integer",
        "format": "int64"
      },
      "petId": {
        "type": "integer",
        "format": "int64"
      },
      "quantity": {
        "type": "integer",
        "format": "int32"
      },
      "shipDate": {
        "type": "string",
        "format": "date-time"
      },
      "status": {
        "type": "string",
        "enum": [
          "placed",
          "approved",
          "delivered"
        ]
      },
      "complete": {
        "type": "boolean"
      }
    }
  },
  "Category": {
    "type": "object",
    "properties": {
      "id": {
        "type": "integer",
        "format": "int64"
      },
      "name": {
        "type": "string"
      }
    }
  },
  "User": {
    "type": "object",
    "properties": {
      "id": {
        "type": "integer",
        "format": "int64"
      },
      "username": {
        "type": "string"
      },
      "firstName": {
        "type": "string"
      },
      "lastName": {
        "type": "string"
      },
      "email": {
        "type": "string"
      },
      "password": {
        "type": "string"
      },
      "phone": {
        "type": "string"
      },
      "userStatus": {
        "type": "integer",
        "format": "int32"
      }
    }
  },
  "Tag": {
    "type": "object",
    "properties": {
      "id": {
        "type": "integer",
        "format": "int64"
      },
      "name": {
        "type": "string"
      }
    }
  },
  "Pet": {
    "required": [
      "name",
      "photoUrls"
    ],
    "type": "object",
    "properties": {
      "id": {
        "type": "integer",
        "format": "int64"
      },
      "name": {
        "type": "string"
      },
      "category": {
        "$ref": "Category#"
      },
      "photoUrls": {
        "type": "array",
        "items": {
          "type": "string"
        }
      },
      "tags": {
        "type": "array",
        "items": {
          "$ref": "Tag#"
        }
      },
      "status": {
        "type": "string",
        "enum": [
          "available",
          "pending",
          "sold"
        ]
      }
    }
  },
  "ApiResponse": {
    "type": "object",
    "properties": {
      "code": {
        "type": "integer",
        "format": "int32"
      },
      "type": {
        "type": "string"
      },
      "message": {
        "type": "string"
      }
    }
  }
} as const

export const securitySchemes = {
  "petstore_auth": {
    "type": "oauth2"
  },
  "api_key": {
    "type": "apiKey",
    "name": "api_key",
    "in": "header"
  }
} as const

export const skipped = [] as const

// Generated from openapi.yaml by `npm run generate`. Do not edit: change the contract and generate again.
export interface paths {
    "/plants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a plant
         * @description Creates a new plant in the store. The service stores the plant durably before it sends the response. The same request again changes nothing and gets the same response, so a client may retry when a response was lost.
         */
        post: operations["createPlant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Plant: {
            /** @description The name of the plant. Any text without U+0000 and without lone surrogates. */
            name: string;
            /** @description Tag that specifies the type of the plant. Any text without U+0000 and without lone surrogates. */
            tag?: string;
        };
        NewPlant: components["schemas"]["Plant"] & {
            /**
             * Format: int64
             * @description Identification number of the plant, -9223372036854775808 to 9223372036854775807. Numbers of JavaScript, and of JSON parsers that use doubles, are exact only from -9007199254740991 to 9007199254740991: larger ids need 64-bit integers, such as BigInt with JSON.rawJSON, or another plant gets the id.
             */
            id: bigint;
        };
        Error: {
            /**
             * Format: int32
             * @description The HTTP status code of the response.
             */
            error: number;
            /** @description Sentences that describe the error. A request with several faults gets one for each, up to ten. */
            message: string;
        };
    };
    responses: {
        /** @description The bearer token is missing or not accepted. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /** @description The Bearer challenge of RFC 6750, section 3. */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": 401,
                 *       "message": "The bearer token is not accepted."
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The token has reached its limit of requests per minute, or the address its limit of requests without an accepted token. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /** @description Requests per minute that the token may make, if the service limits them. */
                "ratelimit-limit"?: number;
                /** @description How many of them are left in this minute. */
                "ratelimit-remaining"?: number;
                /** @description Seconds until the minute ends. */
                "ratelimit-reset"?: number;
                /** @description Seconds to wait before the next request. */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": 429,
                 *       "message": "This token may make 600 requests per minute. Retry-After gives the seconds to wait."
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The service cannot store the plant durably or check the token now, is overloaded, or could not confirm in time that the plant is stored. A retry of the same request is safe. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /** @description Requests per minute that the token may make, if the service limits them. */
                "ratelimit-limit"?: number;
                /** @description How many of them are left in this minute. */
                "ratelimit-remaining"?: number;
                /** @description Seconds until the minute ends. */
                "ratelimit-reset"?: number;
                /** @description Seconds to wait before the next request. */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": 503,
                 *       "message": "The service could not confirm that the plant is stored. Sending the same plant again is safe."
                 *     }
                 */
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The id of this request in the log of the service. */
        "X-Request-Id": string;
        /** @description Requests per minute that the token may make, if the service limits them. */
        "ratelimit-limit": number;
        /** @description How many of them are left in this minute. */
        "ratelimit-remaining": number;
        /** @description Seconds until the minute ends. */
        "ratelimit-reset": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    createPlant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPlant"];
            };
        };
        responses: {
            /** @description plant response: the plant is stored durably. The body has its name and tag, not its id. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description Requests per minute that the token may make, if the service limits them. */
                    "ratelimit-limit"?: number;
                    /** @description How many of them are left in this minute. */
                    "ratelimit-remaining"?: number;
                    /** @description Seconds until the minute ends. */
                    "ratelimit-reset"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "name": "Boston fern",
                     *       "tag": "fern"
                     *     }
                     */
                    "application/json": components["schemas"]["Plant"];
                };
            };
            /** @description unexpected error: the request breaks a rule, which the message names. Nothing is stored. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description Requests per minute that the token may make, if the service limits them. */
                    "ratelimit-limit"?: number;
                    /** @description How many of them are left in this minute. */
                    "ratelimit-remaining"?: number;
                    /** @description Seconds until the minute ends. */
                    "ratelimit-reset"?: number;
                    /** @description The Bearer challenge of RFC 6750, section 3. Sent if the field Authorization is malformed. */
                    "WWW-Authenticate"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": 400,
                     *       "message": "\"id\" in the body must be an integer from -9223372036854775808 to 9223372036854775807."
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description The request did not arrive in time. A retry is safe. */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": 408,
                     *       "message": "The request did not arrive within 10 s, or its Content-Length is too large."
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Another plant already has this id. The stored plant does not change. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description Requests per minute that the token may make, if the service limits them. */
                    "ratelimit-limit"?: number;
                    /** @description How many of them are left in this minute. */
                    "ratelimit-remaining"?: number;
                    /** @description Seconds until the minute ends. */
                    "ratelimit-reset"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": 409,
                     *       "message": "Another plant has the id 1. The stored plant does not change."
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is larger than the service accepts. */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description Requests per minute that the token may make, if the service limits them. */
                    "ratelimit-limit"?: number;
                    /** @description How many of them are left in this minute. */
                    "ratelimit-remaining"?: number;
                    /** @description Seconds until the minute ends. */
                    "ratelimit-reset"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": 413,
                     *       "message": "The body is larger than 65536 bytes, the limit of this service."
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The media type is not `application/json` in UTF-8, or the request has a `Content-Encoding`. */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description Requests per minute that the token may make, if the service limits them. */
                    "ratelimit-limit"?: number;
                    /** @description How many of them are left in this minute. */
                    "ratelimit-remaining"?: number;
                    /** @description Seconds until the minute ends. */
                    "ratelimit-reset"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": 415,
                     *       "message": "The body must be sent as Content-Type: application/json, in UTF-8."
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            /** @description The service failed. Its log records the cause. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description Requests per minute that the token may make, if the service limits them. */
                    "ratelimit-limit"?: number;
                    /** @description How many of them are left in this minute. */
                    "ratelimit-remaining"?: number;
                    /** @description Seconds until the minute ends. */
                    "ratelimit-reset"?: number;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "error": 500,
                     *       "message": "The service failed. Its log records the cause."
                     *     }
                     */
                    "application/json": components["schemas"]["Error"];
                };
            };
            503: components["responses"]["Unavailable"];
        };
    };
}

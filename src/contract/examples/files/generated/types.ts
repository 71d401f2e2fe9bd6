// Generated from openapi.yaml by `npx fastify-openapi-contract generate --int64 number`. Do not edit: change the contract and generate again.
export interface paths {
    "/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the files */
        get: operations["listFiles"];
        put?: never;
        /** Upload a file */
        post: operations["createFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/{file_id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: components["parameters"]["FileId"];
            };
            cookie?: never;
        };
        /** Describe a file */
        get: operations["readFile"];
        put?: never;
        post?: never;
        /** Delete a file */
        delete: operations["deleteFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/{file_id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: components["parameters"]["FileId"];
            };
            cookie?: never;
        };
        /** Download a file */
        get: operations["downloadFile"];
        /** Replace the bytes of a file */
        put: operations["replaceContent"];
        post?: never;
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
        /** @enum {string} */
        Purpose: "assistants" | "batch" | "user_data";
        File: {
            id: string;
            bytes: number;
            /** @description Seconds since 1970. */
            created_at: number;
            filename: string;
            purpose: components["schemas"]["Purpose"];
        };
        Error: {
            error: {
                message: string;
            };
        };
    };
    responses: {
        /** @description The description of the file. */
        File: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["File"];
            };
        };
        /** @description What is wrong. */
        Error: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        FileId: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listFiles: {
        parameters: {
            query: {
                /** @description Only files of this size and more. */
                min_bytes: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The files, oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["File"][];
                        total_bytes: number;
                    };
                };
            };
            default: components["responses"]["Error"];
        };
    };
    createFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    purpose: components["schemas"]["Purpose"];
                    /** Format: binary */
                    file: Blob;
                };
            };
        };
        responses: {
            200: components["responses"]["File"];
            default: components["responses"]["Error"];
        };
    };
    readFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: components["parameters"]["FileId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["File"];
            default: components["responses"]["Error"];
        };
    };
    deleteFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: components["parameters"]["FileId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file is deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Error"];
        };
    };
    downloadFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: components["parameters"]["FileId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes, in the media type of the upload. */
            200: {
                headers: {
                    "Content-Disposition": string;
                    [name: string]: unknown;
                };
                content: {
                    "*/*": unknown;
                };
            };
            default: components["responses"]["Error"];
        };
    };
    replaceContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file_id: components["parameters"]["FileId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "*/*": unknown;
            };
        };
        responses: {
            200: components["responses"]["File"];
            default: components["responses"]["Error"];
        };
    };
}

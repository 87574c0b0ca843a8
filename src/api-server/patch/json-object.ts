/** A JSON object. */
export type JsonObject = Record<string, unknown>;

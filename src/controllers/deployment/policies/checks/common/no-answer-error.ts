/** There was no answer, or none that could be read. */
export class NoAnswerError extends Error {}

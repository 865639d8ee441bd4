/** The message completes a sentence that begins with the name of the field: `is not a PDF`. */
export class InvalidFileError extends Error {}

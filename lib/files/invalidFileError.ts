/**
 * Thrown for a file that cannot be read. The message completes a sentence that begins with the name of the field, for example `is
 * not a PDF`.
 */
export class InvalidFileError extends Error {}

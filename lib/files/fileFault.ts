/** The file cannot be read. The message continues a sentence that begins with the name of the field: `is not a PDF`. */
export class FileFault extends Error {}

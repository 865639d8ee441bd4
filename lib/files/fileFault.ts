/** A file that cannot be read, and why: the message goes on after the name of the field that the file came in. */
export class FileFault extends Error {}

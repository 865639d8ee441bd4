/** The key of an alarm's metadata in the template, which has the impact of each function by its name. */
export const IMPACTS = 'Impacts';

/** The key of an alarm's metadata in the template: the impact of each function, by the group of the metric that stands for it. */
export const IMPACTS = 'Impacts';

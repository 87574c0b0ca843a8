export { runConversion } from './run-conversion.js';
export type { ConversionOptions } from './run-conversion.js';

export { limitHeapGrowth, withMemoryDefaults } from './memory-environment.js';
export {
  OUTPUT_CLOSED_EXIT_CODE,
  USAGE_EXIT_CODE,
  endSoon,
  expectReaderToLeave,
  failProcess,
  isOutputClosed,
  runOnce,
  runUntilStopped,
  tellParent,
} from './process-lifecycle.js';
export type { ChildMessage } from './process-lifecycle.js';
export {
  escapedLine,
  escapedText,
  print,
  printError,
  styledText,
  terminalText,
  unstyledText,
} from './terminal-text.js';
export { heapIsLoaded } from './heap-while-loading.js';

export { compileDeviceSelector } from './compile-device-selector.js';
export type { SelectableDevice } from './compile-device-selector.js';

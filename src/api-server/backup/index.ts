export { BackupFileError } from './backup-file.js';
export { backUp, hasObjects, restore } from './backup.js';
export type { BackupOptions, BackupResult } from './backup.js';

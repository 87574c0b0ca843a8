export { assertOwnDataFolder, claimDataFolder } from './data-folder.js';
export type { DataFolder } from './data-folder.js';
export { makeFolder } from './make-folder.js';
export {
  UntrustedFileError,
  assertOwnFolder,
  openOwnLog,
  readNamedSecret,
  readOwnFile,
} from './own-files.js';
export {
  UnreadableFileError,
  assertNamedFile,
  openNamedFile,
  readNamedFile,
  readNamedFileSync,
} from './named-file.js';
export { replaceFile } from './replace-file.js';

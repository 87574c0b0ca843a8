/** The system's metadata of a file or folder. */
export interface FileFacts {
  readonly uid: number;
  readonly gid: number;
  /** With or without the file type bits. */
  readonly mode: number;
}

/** The user and groups of this process. */
export interface ProcessOwner {
  readonly uid: number;
  readonly groups: ReadonlySet<number>;
}

/**
 * The place of a file or folder: `volume`, the root of a volume of this container; `in-volume`, below it; else
 * `machine`. The user or system that starts the container sets up its volumes: Kubernetes mounts an empty one as root's
 * with mode 0777, and opens others, files included, to a group of the process (`fsGroup`).
 */
export type Place = 'machine' | 'volume' | 'in-volume';

/** `foreign`: another user owns it. `writable`: other users may change it. `link`: a symbolic link of another user. */
export type Distrust = 'foreign' | 'writable' | 'link';

const ROOT = 0;
const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;
const GROUP_READS = 0o050;
const OTHERS_READ = 0o005;

/**
 * Whether a folder can only hold what this user, or root, has put there. A world-writable folder of root's is only
 * trusted as the root of a volume.
 */
export function judgeFolder(folder: FileFacts, self: ProcessOwner, place: Place): Distrust | undefined {
  if (!isOwned(folder, self, place)) return 'foreign';
  const isEmptyDir = place === 'volume' && folder.uid === ROOT && (folder.mode & STICKY) === 0;
  if (isEmptyDir) return undefined;
  return isOpen(folder, self, place) ? 'writable' : undefined;
}

/** Whether only this user, or root, can have written the content of a file. */
export function judgeFile(file: FileFacts, self: ProcessOwner, place: Place): Distrust | undefined {
  return isOwned(file, self, place) ? judgeNamedFile(file, self, place) : 'foreign';
}

/** As {@link judgeFile}, for a file that the user named explicitly, whose owner is the user's choice. */
export function judgeNamedFile(file: FileFacts, self: ProcessOwner, place: Place): Distrust | undefined {
  return isOpen(file, self, place) ? 'writable' : undefined;
}

/** Whether a symbolic link can only lead to where this user, or root, wanted it to. Its mode is irrelevant. */
export function judgeLink(link: FileFacts, self: ProcessOwner): Distrust | undefined {
  return link.uid === self.uid || link.uid === ROOT ? undefined : 'link';
}

/** Whether other users share a folder: another user owns it, or others may read it. */
export function isShared(folder: FileFacts, { uid }: ProcessOwner): boolean {
  if (folder.uid !== uid || (folder.mode & OTHERS_READ) !== 0) return true;
  return (folder.mode & GROUP_READS) !== 0 && !isGroupOfOwner(folder);
}

function isOwned({ gid, uid }: FileFacts, self: ProcessOwner, place: Place): boolean {
  return uid === self.uid || uid === ROOT || (place !== 'machine' && self.groups.has(gid));
}

function isOpen(file: FileFacts, { groups }: ProcessOwner, place: Place): boolean {
  if ((file.mode & OTHERS_WRITE) !== 0) return true;
  if ((file.mode & GROUP_WRITES) === 0 || isGroupOfOwner(file)) return false;
  return place === 'machine' || !groups.has(file.gid);
}

/**
 * Linux distributions give each user a group with the same number and no other members; many let it write by default.
 */
function isGroupOfOwner({ gid, uid }: FileFacts): boolean {
  return gid === uid;
}

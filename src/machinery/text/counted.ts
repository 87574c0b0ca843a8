/** `1 pod`, `3 pods`; no number but 1 takes the singular. @param plural @default the noun with an s */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

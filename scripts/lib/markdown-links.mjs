// Links and anchors of Markdown as GitHub reads it. Plain Node, nothing from node_modules.

const FENCE = /^(\s*)(```+|~~~+)[^\n]*\n[\s\S]*?\n\s*\2[ \t]*$/gm;
const INLINE_CODE = /(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g;
const LINK = /(?<!\\)\[((?:[^\][]|\[[^\][]*\])*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+"[^"]*")?\)/g;

/** The text with code as blanks, everything else where it was. */
function withoutCode(markdown) {
  const blank = (text) => text.replace(/[^\n]/g, ' ');
  return markdown.replace(FENCE, blank).replace(INLINE_CODE, blank);
}

/** All links outside of code: `target` with what is behind `#` apart from it. External ones are left out. */
export function linksIn(markdown) {
  return [...withoutCode(markdown).matchAll(LINK)].flatMap(({ 0: whole, 2: target, index }) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return [];
    const mark = target.indexOf('#');
    return {
      path: mark < 0 ? target : target.slice(0, mark),
      anchor: mark < 0 ? '' : target.slice(mark + 1),
      line: markdown.slice(0, index).split('\n').length,
      // The position of the target in the text.
      start: index + whole.lastIndexOf(`(${target}`) + 1,
      end: index + whole.lastIndexOf(`(${target}`) + 1 + target.length,
    };
  });
}

/** The anchor that a heading has: `From an empty folder` is `from-an-empty-folder`. */
export function slugOf(heading) {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** The anchors of a page: its headings, a second one of the same words with a number. */
export function anchorsIn(markdown) {
  const anchors = new Set();
  const plain = markdown.replace(FENCE, (text) => text.replace(/[^\n]/g, ' '));
  for (const [, heading] of plain.matchAll(/^#{1,6}[ \t]+(.*?)[ \t]*#*$/gm)) {
    const slug = slugOf(heading);
    let unique = slug;
    for (let count = 1; anchors.has(unique); count++) unique = `${slug}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}

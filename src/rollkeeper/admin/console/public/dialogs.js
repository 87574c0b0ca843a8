// The keyboard in all dialogs.

/** Escape closes; Tab stays within. */
export function dialogKeys(event, close) {
  if (event.key === 'Escape') {
    event.stopPropagation();
    close();
  }
  if (event.key !== 'Tab') return;
  const all = [
    ...event.currentTarget.querySelectorAll('a[href], button, input, select, textarea, [tabindex="0"]'),
  ].filter((each) => !each.disabled && each.offsetParent !== null);
  const [first, last] = [all[0], all.at(-1)];
  if (!first || document.activeElement !== (event.shiftKey ? first : last)) return;
  event.preventDefault();
  (event.shiftKey ? last : first).focus();
}

/** Focuses an element that is drawn with the next frame by its selector, or calls the given function. */
export function focusSoon(what) {
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      typeof what === 'function' ? what() : document.querySelector(what)?.focus(),
    ),
  );
}

export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly SidebarItem[];
}

export const SIDEBAR: readonly SidebarItem[];
export function linkedPages(items?: readonly SidebarItem[]): string[];

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const BASE = '/dashboard';

let moved = false;

/** Whether the user has changed pages: the new page's heading then takes the focus. */
export function hasMoved(): boolean {
  return moved;
}

/** Goes to an address within the dashboard. */
export function go(path: string): void {
  moved = true;
  if (path !== here()) history.pushState(null, '', BASE + path);
  dispatchEvent(new PopStateEvent('popstate'));
}

/** Replaces the current address by another one within the dashboard; Back skips the replaced one. */
export function replace(path: string): void {
  history.replaceState(null, '', BASE + path);
  dispatchEvent(new PopStateEvent('popstate'));
}

/** The address within the dashboard, with its query. */
function here(): string {
  return location.pathname.slice(BASE.length) + location.search;
}

/** The address; renders again when it changes. */
export function useAddress(): URL {
  const [address, setAddress] = useState(here());
  useEffect(() => {
    const changed = () => setAddress(here());
    addEventListener('popstate', changed);
    return () => removeEventListener('popstate', changed);
  }, []);
  return new URL(address, location.origin);
}

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly children: ComponentChildren;
}

/** A link within the dashboard. */
export function Link({ to, current = false, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={BASE + to} onClick={follow} {...(current && { 'aria-current': 'page' as const })} {...rest}>
      {children}
    </a>
  );
}

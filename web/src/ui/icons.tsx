// Line icons, 24 x 24.
const paths: Record<string, string> = {
  home: "M4 11l8-7 8 7M6 9.5V20h12V9.5M10 20v-6h4v6",
  data: "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
  design: "M4 7h9M17 7h3M4 17h3M11 17h9M13 7a2 2 0 1 0 4 0 2 2 0 1 0-4 0M7 17a2 2 0 1 0 4 0 2 2 0 1 0-4 0",
  queue: "M4 6h16M4 12h16M4 18h10",
  compare: "M5 20V10M12 20V4M19 20v-7",
  predict: "M4 18l5-6 4 3 7-9M15 6h5v5",
  rescore: "M4 20h16M5 20l2-9 2 6 3-13 3 12 2-5 2 9",
  neighbors: "M12 12m-2.5 0a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M5 6h.01M18 5h.01M19 15h.01M6 18h.01M13 20h.01M10 10L6 7M14 10.5L17 6",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#2a6f97" />
      <path d="M16 26V7M16 26C15 18 12 12 8 9M16 26c1-8 4-14 8-17" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" />
      <path d="M10.5 19.5h11" stroke="#f0a062" stroke-width="3" stroke-linecap="round" />
    </svg>
  );
}

/** Outlines on a 20 × 20 grid. */
const paths = {
  overview: "M3 10.5 10 4l7 6.5M5 9v7h10V9",
  keys: "M12.5 3.5a4 4 0 1 1-3.6 5.7L3 15v2h3v-2h2v-2h1.6l1.3-1.4",
  usage: "M3 17h14M5.5 17v-5M10 17V5M14.5 17V9",
  errors: "M10 3 2.5 16.5h15L10 3ZM10 8v4M10 14.2v.1",
  try: "M7 6l-4 4 4 4M13 6l4 4-4 4",
  upstreams: "M10 3v14M3 10h14M5.2 5.2l9.6 9.6M14.8 5.2l-9.6 9.6",
  prices: "M3 14l4-5 3 3 7-8M13 4h4v4",
  transfers: "M3 7h13M12 3l4 4-4 4M17 13H4M8 9l-4 4 4 4",
  accounts:
    "M10 10a3.2 3.2 0 1 0 0-6.4A3.2 3.2 0 0 0 10 10ZM3.5 17c.6-3.4 3.2-5 6.5-5s5.9 1.6 6.5 5",
  invitations: "M3 5h14v10H3zM3 6l7 5 7-5",
  audit: "M5 3h10v14H5zM8 7h4M8 10h4M8 13h2",
  copy: "M7 7h9v9H7zM4 13V4h9",
  check: "M4 10.5 8 14.5 16 5.5",
  menu: "M3 6h14M3 10h14M3 14h14",
  theme: "M10 3a7 7 0 1 0 0 14V3Z",
  out: "M12 5V3H4v14h8v-2M8 10h9M14 7l3 3-3 3",
  plus: "M10 4v12M4 10h12",
} as const;

export type IconName = keyof typeof paths;

/** A small picture beside a text that says the same. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

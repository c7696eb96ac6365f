// libwayland-client as a Swift module, and the part of wlr-foreign-toplevel-management-unstable-v1 that the adapter uses.
//
// The protocol is described by hand: Debian 12 has no package with its XML for wayland-scanner, and a system library needs no
// step of the build that generates code. Opcodes are positions in these tables, so the tables are complete.
#pragma once
#include <stdint.h>
#include <string.h>
#include <wayland-client.h>

#define WLR_TOPLEVEL_VERSION 3
#define WLR_TOPLEVEL_FULLSCREEN_VERSION 2

enum wlr_toplevel_state { WLR_TOPLEVEL_MINIMIZED = 1, WLR_TOPLEVEL_ACTIVATED = 2, WLR_TOPLEVEL_FULLSCREEN = 3 };

static const struct wl_interface wlr_toplevel_interface;

static const struct wl_interface *const wlr_no_types[] = {NULL, NULL, NULL, NULL, NULL};
static const struct wl_interface *const wlr_seat_types[] = {&wl_seat_interface};
static const struct wl_interface *const wlr_output_types[] = {&wl_output_interface};
static const struct wl_interface *const wlr_toplevel_types[] = {&wlr_toplevel_interface};
static const struct wl_interface *const wlr_rectangle_types[] = {&wl_surface_interface, NULL, NULL, NULL, NULL};

#define WLR_TYPES(types) (const struct wl_interface **)(types)

static const struct wl_message wlr_toplevel_requests[] = {
    {"set_maximized", "", WLR_TYPES(wlr_no_types)},
    {"unset_maximized", "", WLR_TYPES(wlr_no_types)},
    {"set_minimized", "", WLR_TYPES(wlr_no_types)},
    {"unset_minimized", "", WLR_TYPES(wlr_no_types)},
    {"activate", "o", WLR_TYPES(wlr_seat_types)},
    {"close", "", WLR_TYPES(wlr_no_types)},
    {"set_rectangle", "oiiii", WLR_TYPES(wlr_rectangle_types)},
    {"destroy", "", WLR_TYPES(wlr_no_types)},
    {"set_fullscreen", "2?o", WLR_TYPES(wlr_output_types)},
    {"unset_fullscreen", "2", WLR_TYPES(wlr_no_types)},
};
enum {
  WLR_TOPLEVEL_SET_MINIMIZED = 2,
  WLR_TOPLEVEL_UNSET_MINIMIZED = 3,
  WLR_TOPLEVEL_ACTIVATE = 4,
  WLR_TOPLEVEL_CLOSE = 5,
  WLR_TOPLEVEL_DESTROY = 7,
  WLR_TOPLEVEL_SET_FULLSCREEN = 8,
  WLR_TOPLEVEL_UNSET_FULLSCREEN = 9
};

static const struct wl_message wlr_toplevel_events[] = {
    {"title", "s", WLR_TYPES(wlr_no_types)},
    {"app_id", "s", WLR_TYPES(wlr_no_types)},
    {"output_enter", "o", WLR_TYPES(wlr_output_types)},
    {"output_leave", "o", WLR_TYPES(wlr_output_types)},
    {"state", "a", WLR_TYPES(wlr_no_types)},
    {"done", "", WLR_TYPES(wlr_no_types)},
    {"closed", "", WLR_TYPES(wlr_no_types)},
    {"parent", "3?o", WLR_TYPES(wlr_toplevel_types)},
};

static const struct wl_interface wlr_toplevel_interface = {
    "zwlr_foreign_toplevel_handle_v1", WLR_TOPLEVEL_VERSION, 10, wlr_toplevel_requests, 8, wlr_toplevel_events,
};

static const struct wl_message wlr_manager_requests[] = {{"stop", "", WLR_TYPES(wlr_no_types)}};
static const struct wl_message wlr_manager_events[] = {
    {"toplevel", "n", WLR_TYPES(wlr_toplevel_types)},
    {"finished", "", WLR_TYPES(wlr_no_types)},
};

static const struct wl_interface wlr_manager_interface = {
    "zwlr_foreign_toplevel_manager_v1", WLR_TOPLEVEL_VERSION, 1, wlr_manager_requests, 2, wlr_manager_events,
};

// Handlers of the events, in the order of the tables.
struct wlr_manager_listener {
  void (*toplevel)(void *data, struct wl_proxy *manager, struct wl_proxy *toplevel);
  void (*finished)(void *data, struct wl_proxy *manager);
};

struct wlr_toplevel_listener {
  void (*title)(void *data, struct wl_proxy *toplevel, const char *title);
  void (*app_id)(void *data, struct wl_proxy *toplevel, const char *app_id);
  void (*output_enter)(void *data, struct wl_proxy *toplevel, struct wl_output *output);
  void (*output_leave)(void *data, struct wl_proxy *toplevel, struct wl_output *output);
  void (*state)(void *data, struct wl_proxy *toplevel, struct wl_array *state);
  void (*done)(void *data, struct wl_proxy *toplevel);
  void (*closed)(void *data, struct wl_proxy *toplevel);
  void (*parent)(void *data, struct wl_proxy *toplevel, struct wl_proxy *parent);
};

static inline struct wl_proxy *wlr_bind_manager(struct wl_registry *registry, uint32_t name, uint32_t version) {
  return (struct wl_proxy *)wl_registry_bind(registry, name, &wlr_manager_interface, version);
}

static inline struct wl_output *wlr_bind_output(struct wl_registry *registry, uint32_t name, uint32_t version) {
  return (struct wl_output *)wl_registry_bind(registry, name, &wl_output_interface, version);
}

static inline struct wl_seat *wlr_bind_seat(struct wl_registry *registry, uint32_t name) {
  return (struct wl_seat *)wl_registry_bind(registry, name, &wl_seat_interface, 1);
}

static inline void wlr_listen_to_manager(
    struct wl_proxy *manager, const struct wlr_manager_listener *listener, void *data) {
  wl_proxy_add_listener(manager, (void (**)(void))listener, data);
}

static inline void wlr_listen_to_toplevel(
    struct wl_proxy *toplevel, const struct wlr_toplevel_listener *listener, void *data) {
  wl_proxy_add_listener(toplevel, (void (**)(void))listener, data);
}

static inline void wlr_toplevel_minimize(struct wl_proxy *toplevel, int minimized) {
  wl_proxy_marshal_flags(
      toplevel, minimized ? WLR_TOPLEVEL_SET_MINIMIZED : WLR_TOPLEVEL_UNSET_MINIMIZED, NULL,
      wl_proxy_get_version(toplevel), 0);
}

static inline void wlr_toplevel_activate(struct wl_proxy *toplevel, struct wl_seat *seat) {
  wl_proxy_marshal_flags(toplevel, WLR_TOPLEVEL_ACTIVATE, NULL, wl_proxy_get_version(toplevel), 0, seat);
}

static inline void wlr_toplevel_close(struct wl_proxy *toplevel) {
  wl_proxy_marshal_flags(toplevel, WLR_TOPLEVEL_CLOSE, NULL, wl_proxy_get_version(toplevel), 0);
}

// Fills the output that the compositor chooses; since WLR_TOPLEVEL_FULLSCREEN_VERSION.
static inline void wlr_toplevel_fullscreen(struct wl_proxy *toplevel) {
  wl_proxy_marshal_flags(toplevel, WLR_TOPLEVEL_SET_FULLSCREEN, NULL, wl_proxy_get_version(toplevel), 0, NULL);
}

static inline void wlr_toplevel_unset_fullscreen(struct wl_proxy *toplevel) {
  wl_proxy_marshal_flags(toplevel, WLR_TOPLEVEL_UNSET_FULLSCREEN, NULL, wl_proxy_get_version(toplevel), 0);
}

static inline void wlr_toplevel_destroy(struct wl_proxy *toplevel) {
  wl_proxy_marshal_flags(
      toplevel, WLR_TOPLEVEL_DESTROY, NULL, wl_proxy_get_version(toplevel), WL_MARSHAL_FLAG_DESTROY);
}

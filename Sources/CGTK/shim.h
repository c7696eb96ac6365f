// GTK 4 as a Swift module, with the main queue of libdispatch.
#pragma once
// Programs run on Debian 12's GTK 4.8 too, so what later releases deprecate has nothing to replace it.
#ifndef GDK_VERSION_MIN_REQUIRED
#define GDK_VERSION_MIN_REQUIRED GDK_VERSION_4_8
#endif
#include <glib-unix.h>
#include <gtk/gtk.h>

// What CoreFoundation uses, for main loops other than libdispatch's: a descriptor that is readable when the main queue has work, and
// the function that does that work.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *ignored);
